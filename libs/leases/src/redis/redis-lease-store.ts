import { LeaseStore } from '@deadman/domain';
import type { Lease, LeaseReading } from '@deadman/domain';
import type { RedisScripts } from './redis-scripts.js';

/** Since when Redis can be believed, kept by the script that reads the leases. */
const TRUST_KEY = 'deadman:trust';

/** A longer silence between two reads means that nobody can say what was kept meanwhile (`protocol.md` §9). Milliseconds. */
const TRUST_GAP_MS = 3_000;

/** Leases as Redis keys that expire by themselves: `lease:<job id>` = `worker|attempt|token`. One Redis, not a cluster. */
export class RedisLeaseStore extends LeaseStore {
  readonly #scripts: RedisScripts;

  constructor(scripts: RedisScripts) {
    super();
    this.#scripts = scripts;
  }

  override async acquire(leases: readonly Lease[], ttlMs: number): Promise<void> {
    if (leases.length === 0) return;
    const holders = leases.flatMap(({ workerId, attempt, token }) => [workerId, attempt, token]);
    await this.#scripts.run('acquire', leases.map(keyOf), [ttlMs, ...holders]);
  }

  override async renew(leases: readonly Lease[], ttlMs: number): Promise<readonly boolean[]> {
    if (leases.length === 0) return [];
    const mine = await this.#scripts.run('renew', leases.map(keyOf), [ttlMs, ...leases.map(valueOf)]);
    return (mine as number[]).map((flag) => flag === 1);
  }

  override async release(leases: readonly Lease[]): Promise<void> {
    if (leases.length === 0) return;
    await this.#scripts.run('release', leases.map(keyOf), leases.map(valueOf));
  }

  override async read(jobIds: readonly string[]): Promise<LeaseReading> {
    const keys = jobIds.map((jobId) => keyOf({ jobId }));
    const [unbrokenMs, ...present] = (await this.#scripts.run(
      'read',
      [TRUST_KEY, ...keys],
      [TRUST_GAP_MS],
    )) as number[];
    return { present: present.map((flag) => flag === 1), unbrokenMs: unbrokenMs ?? 0 };
  }
}

function keyOf({ jobId }: Pick<Lease, 'jobId'>): string {
  return `lease:${jobId}`;
}

function valueOf({ workerId, attempt, token }: Lease): string {
  return `${workerId}|${attempt}|${token}`;
}
