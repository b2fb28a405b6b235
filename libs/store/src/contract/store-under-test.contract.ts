import { randomUUID } from 'node:crypto';
import { isDeadmanError } from '@deadman/domain';
import type {
  ApplyResult,
  ClaimedJob,
  EffectStore,
  IdleClaim,
  Job,
  JobSpec,
  JobStore,
  JobView,
  OpenTransaction,
  OutboxEntry,
  StoreNotices,
  TicketClaim,
  Transition,
  WorkerRegistry,
} from '@deadman/domain';
import { aSubmission } from '@deadman/testing';

/** A store with everything beside it, empty at the start of each test. */
export interface StoreUnderTest {
  readonly store: JobStore;
  readonly workers: WorkerRegistry;
  readonly notices: StoreNotices;
  readonly effects: EffectStore;
  /** What the database's clock says. */
  now(): Promise<Date>;
  /** Moves the database's clock on, and no other. */
  elapse(ms: number): Promise<void>;
  /** Leaves what a handler's transaction leaves when it commits an effect. */
  recordEffect(jobId: string, key: string): Promise<void>;
  /** Writes a line to a ledger inside a handler's transaction. Nothing keeps the ledger from taking a line twice. */
  fire(transaction: OpenTransaction, what: string): Promise<void>;
  /** The lines that committed, in their order. */
  fired(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Opens an empty store. */
export type OpenStore = () => Promise<StoreUnderTest>;

export const QUARANTINE_FROM = 7;

export function aTicketClaim(ids: readonly string[], overrides: Partial<TicketClaim> = {}): TicketClaim {
  const worker = { workerId: randomUUID(), types: ['demo.echo'], quarantineFrom: QUARANTINE_FROM };
  return { token: randomUUID(), ...worker, ids, ...overrides };
}

export function anIdleClaim(overrides: Partial<IdleClaim> = {}): IdleClaim {
  const { token, workerId, types, quarantineFrom } = aTicketClaim([]);
  return {
    token,
    workerId,
    types,
    quarantineFrom,
    queues: ['default'],
    limit: 500,
    minAgeMs: 0,
    alone: false,
    ...overrides,
  };
}

/** Submits one job that is due now. */
export async function submitOne(store: JobStore, overrides: Partial<JobSpec> = {}): Promise<Job> {
  const { results } = await store.submit([aSubmission(overrides)]);
  return results[0]!.job;
}

export async function submitMany(store: JobStore, count: number, overrides: Partial<JobSpec> = {}): Promise<Job[]> {
  const { results } = await store.submit(Array.from({ length: count }, () => aSubmission(overrides)));
  return results.map(({ job }) => job);
}

export async function claimOne(store: JobStore, id: string, overrides: Partial<TicketClaim> = {}): Promise<ClaimedJob> {
  const [claimed] = await store.claim(aTicketClaim([id], overrides));
  if (claimed === undefined) throw new Error(`Job ${id} could not be claimed`);
  return claimed;
}

/** A job that was submitted and claimed. */
export async function runningJob(store: JobStore, overrides: Partial<JobSpec> = {}): Promise<ClaimedJob> {
  const { id, type } = await submitOne(store, overrides);
  return claimOne(store, id, { types: [type] });
}

export async function applyOne(store: JobStore, transition: Transition): Promise<ApplyResult> {
  const { results } = await store.apply([transition]);
  return results[0]!;
}

export async function jobNow(store: JobStore, id: string): Promise<JobView> {
  const job = await store.findJob(id);
  if (job === null) throw new Error(`Job ${id} is not stored`);
  return job;
}

/** All that lies in the outbox, in no order that matters. */
export async function outboxRows(store: JobStore): Promise<readonly OutboxEntry[]> {
  return store.takeOutbox({ olderThanMs: 0, limit: 10_000, backoffBaseMs: 0, backoffMaxMs: 0 });
}

/** What outbox rows say, whatever their ids and their order. */
export function told(rows: readonly OutboxEntry[]): readonly string[] {
  return rows
    .map((row) =>
      row.kind === 'ready'
        ? `ready ${row.queue} ${row.jobIds.toSorted().join(' ')}`
        : `dead ${row.jobId} ${row.attempt}`,
    )
    .toSorted();
}

/** The code that a call fails with, or what it returned instead. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    return isDeadmanError(error) ? error.code : error;
  }
}
