import { WorkerRegistry } from '@deadman/domain';
import type { BeatReply, BeatRequest, Belief } from '@deadman/domain';
import { toArrayLiteral } from './array-literal.js';
import type { PostgresDatabase } from './postgres-database.js';
import { statement } from './statement.js';

const BEAT = statement('beat');
const LIVE_TYPES = statement('live-types');
const RETIRE = statement('retire');

/** A job of the worker, or nulls when it has none: there is always a row, since quarantine is told in it. */
interface BeatRow {
  readonly is_quarantine_waiting: boolean;
  readonly id: string | null;
  readonly attempt: number;
  readonly claim_token: string;
  readonly is_cancel_asked: boolean;
}

/** Who is alive, in the database of the jobs. */
export class PostgresWorkerRegistry extends WorkerRegistry {
  readonly #db: PostgresDatabase;

  constructor(db: PostgresDatabase) {
    super();
    this.#db = db;
  }

  override async beat({ worker, quarantineFrom, quarantineWaitMs }: BeatRequest): Promise<BeatReply> {
    const { incarnation, name, types, queues, slots } = worker;
    const names = [toArrayLiteral(types), toArrayLiteral(queues)];
    const values = [incarnation, name, ...names, slots, quarantineFrom, quarantineWaitMs];
    const rows = await this.#db.write<BeatRow>(BEAT, values);
    return { beliefs: rows.flatMap(toBelief), isQuarantineWaiting: rows[0]!.is_quarantine_waiting };
  }

  override async retire(incarnation: string): Promise<void> {
    await this.#db.write(RETIRE, [incarnation]);
  }

  override async liveTypes(withinMs: number): Promise<ReadonlySet<string>> {
    const rows = await this.#db.read<{ type: string }>(LIVE_TYPES, [withinMs]);
    return new Set(rows.map(({ type }) => type));
  }
}

function toBelief({ id, attempt, claim_token: token, is_cancel_asked: cancelRequested }: BeatRow): Belief[] {
  return id === null ? [] : [{ jobId: id, attempt, token, cancelRequested }];
}
