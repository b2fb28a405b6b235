import { SystemClock, SystemIds, SystemRandom } from '@deadman/config';
import { DEFAULT_LIMITS, leasePolicy, NO_FAILPOINTS } from '@deadman/domain';
import { HandlerRegistry } from '@deadman/engine';
import { completeHandlers } from '@deadman/handlers';
import { MemoryLeaseStore, MemoryWakeUpSet } from '@deadman/leases';
import {
  MemoryDatabase,
  MemoryEffectStore,
  MemoryJobStore,
  MemoryStoreNotices,
  MemoryWorkerRegistry,
} from '@deadman/store';
import { aSubmission, RecordingEvents } from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { JobSpec } from '@deadman/domain';
import { makeIntake, makeRoles } from './composition.js';
import type { Adapters, Intake } from './composition.js';
import type { Roles } from './roles.js';

const clock = new SystemClock();
const ids = new SystemIds();
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let events: RecordingEvents;
let adapters: Adapters;
let intake: Intake;
let roles: Roles;

beforeEach(async () => {
  events = new RecordingEvents();
  adapters = memoryAdapters();
  const surroundings = { clock, ids, random: new SystemRandom(), events, failpoints: NO_FAILPOINTS };
  intake = makeIntake(adapters, surroundings, DEFAULT_LIMITS);
  const handlers = new HandlerRegistry();
  for (const { value } of completeHandlers([], [])) handlers.register(value);
  roles = makeRoles(adapters, surroundings, intake, {
    name: 'spec',
    handlers,
    handlerLog: () => silent,
    queues: ['default'],
    worker: { slots: 4, drainMs: 0, abortGraceMs: 5_000 },
    policy: leasePolicy(2_000),
    limits: DEFAULT_LIMITS,
    reaper: { scanMs: 100, relayAgeMs: 3_000 },
    retention: {},
    sampleGauges: async () => undefined,
  });
  await roles.start();
});
afterEach(async () => {
  await intake.submitter.close();
  await roles.drain(AbortSignal.abort());
  await roles.stop();
});

function memoryAdapters(): Adapters {
  const database = new MemoryDatabase(clock);
  const registry = new MemoryWorkerRegistry(database);
  const store = new MemoryJobStore(database);
  return {
    store,
    reads: store,
    registry,
    beats: registry,
    notices: new MemoryStoreNotices(database),
    transport: new MemoryTransport(clock),
    leases: new MemoryLeaseStore(clock),
    effects: new MemoryEffectStore(database),
    wakeUps: new MemoryWakeUpSet(clock),
  };
}

async function submit(type: string, payload: unknown, more: Partial<JobSpec> = {}): Promise<string> {
  const submission = aSubmission({ id: ids.timeOrdered(), type, payload: JSON.stringify(payload), ...more });
  return (await intake.submitter.submit(submission)).job.id;
}

const settled = (id: string, state: string) =>
  events.until((event) => event.kind === 'attempt-settled' && event.jobId === id && event.state === state);

describe('Roles', () => {
  it('run a job of every demo handler to its end', async () => {
    const retry = { kind: 'fixed', baseMs: 0 } as const;
    const echoed = await submit('demo.echo', { a: 1 });
    const slept = await submit('demo.sleep', { ms: 1 });
    const healed = await submit('demo.fail', { times: 1 }, { retry, maxAttempts: 3 });
    const counted = await submit('demo.countdown', { from: 0 });
    for (const id of [echoed, slept, healed, counted]) await settled(id, 'SUCCEEDED');
    expect(await adapters.store.findJob(echoed)).toMatchObject({ state: 'SUCCEEDED', result: '{"a":1}' });
    expect(await adapters.store.findJob(healed)).toMatchObject({ attempt: 2, failures: 1 });
  });

  it('record a dead letter for a job that can never succeed', async () => {
    const id = await submit('demo.sleep', { ms: 'soon' });
    await events.until('dead-letter-recorded');
    const [letter] = (await adapters.store.listDeadLetters({ order: 'newest-first', limit: 1 })).items;
    expect(letter).toMatchObject({ jobId: id, error: { code: 'payload-invalid', issues: [{ pointer: '/ms' }] } });
  });

  it('abort a running handler as soon as its job is cancelled', async () => {
    const id = await submit('demo.sleep', { ms: 86_400_000 });
    await events.until('attempt-started');
    expect(await intake.commands.cancel(id)).toMatchObject({ kind: 'asked' });
    await settled(id, 'CANCELLED');
  });

  it('hand back what still runs when they are told to end, without a failure and without a lapse', async () => {
    const id = await submit('demo.sleep', { ms: 86_400_000 });
    await events.until('attempt-started');
    await roles.drain(new AbortController().signal);
    expect(await adapters.store.findJob(id)).toMatchObject({ state: 'PENDING', failures: 0, lapses: 0 });
  });

  it('turn every loop, and none any more once they are stopped', async () => {
    const names = ['reaper', 'promoter', 'wake-up', 'relay', 'retention', 'gauges'];
    for (const name of names) await events.until((event) => event.kind === 'loop-turned' && event.loop === name);
    await roles.drain(AbortSignal.abort());
    await roles.stop();
    expect(events.of('loop-failed')).toEqual([]);
  });
});
