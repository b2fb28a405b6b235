import { EngineEvents } from '@deadman/domain';
import type {
  Clock,
  EngineEvent,
  Ids,
  Job,
  JobStore,
  LeaseStore,
  Random,
  Transport,
  WorkerRegistry,
} from '@deadman/domain';
import { aSubmission } from '@deadman/testing';
import { expect } from '@jest/globals';
import { aHandler } from './engine-under-test.contract.js';
import { HandlerRegistry } from './handler-registry.js';
import { Publisher } from './publisher.js';
import { Submitter } from './submitter.js';
import { Worker } from './worker.js';

const JOBS = 10_000;
const SLOTS = 8;
/** Jobs that one client hands in at once. */
const AT_ONCE = 500;

export interface EngineParts {
  readonly store: JobStore;
  readonly registry: WorkerRegistry;
  readonly leases: LeaseStore;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** Lets the system go on until the condition holds. */
  readonly until: (isOver: () => boolean) => Promise<void>;
}

/** Counts what thousands of jobs leave, without keeping an event of each. */
class Tally extends EngineEvents {
  readonly counts = new Map<string, number>();

  override emit(event: EngineEvent): void {
    this.#count(event.kind);
    if (event.kind === 'attempt-settled') this.#count(event.outcome);
  }

  of(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  #count(what: string): void {
    this.counts.set(what, this.of(what) + 1);
  }
}

/**
 * Submits ten thousand jobs in-process to one worker of eight slots, and expects that each ran exactly once: ten thousand
 * ids, each fired once as counted outside of the store, each SUCCEEDED in its first attempt, without a lapse.
 */
export async function expectTenThousandJobsToRunOnce(parts: EngineParts): Promise<void> {
  const fired = new Map<string, number>();
  const events = new Tally();
  const handlers = new HandlerRegistry();
  handlers.register(aHandler(({ job }) => void fired.set(job.id, (fired.get(job.id) ?? 0) + 1)));
  const publisher = new Publisher({ ...parts, events });
  const submitter = new Submitter({ ...parts, publisher, events });
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const worker = new Worker({ ...parts, publisher, handlers, events, handlerLog: () => log }, { slots: SLOTS });

  await worker.start();
  const ids: string[] = [];
  const submitting = submitAll(submitter, parts.ids, ids);
  await parts.until(() => events.of('succeeded') >= JOBS);
  await submitting;
  let isStopped = false;
  const stopped = Promise.all([worker.drain(), submitter.close()]).then(() => (isStopped = true));
  await parts.until(() => isStopped);
  await stopped;

  expect(new Set(ids).size).toBe(JOBS);
  expect([...fired.keys()].toSorted()).toEqual(ids.toSorted());
  expect([...fired.values()].filter((times) => times !== 1)).toEqual([]);
  const jobs = await findAll(parts.store, ids);
  expect(jobs.filter(isNotAsItShouldBe)).toEqual([]);
  expect(jobs).toHaveLength(JOBS);
  expect([events.of('attempt-settled'), events.of('write-fenced'), events.of('run-lost')]).toEqual([JOBS, 0, 0]);
  expect(await parts.store.outboxAgeMs()).toBe(0);
}

async function submitAll(submitter: Submitter, makeIds: Ids, ids: string[]): Promise<void> {
  while (ids.length < JOBS) {
    const batch = Array.from({ length: AT_ONCE }, () => aSubmission({ id: makeIds.timeOrdered() }));
    const answers = await Promise.all(batch.map((submission) => submitter.submit(submission)));
    ids.push(...answers.map(({ job }) => job.id));
  }
}

async function findAll(store: JobStore, ids: readonly string[]): Promise<Job[]> {
  const jobs: Job[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    jobs.push(...(await store.findJobs(ids.slice(from, from + AT_ONCE))));
  }
  return jobs;
}

function isNotAsItShouldBe({ state, attempt, lapses, failures }: Job): boolean {
  return state !== 'SUCCEEDED' || attempt !== 1 || lapses !== 0 || failures !== 0;
}
