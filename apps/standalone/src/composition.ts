import type {
  Clock,
  EffectStore,
  EngineEvents,
  Failpoints,
  HandlerJob,
  HandlerLog,
  Ids,
  JobLimits,
  JobStore,
  LeasePolicy,
  LeaseStore,
  Random,
  StoreNotices,
  Transport,
  WakeUpSet,
  WorkerRegistry,
} from '@deadman/domain';
import {
  DeadLetterRecorder,
  JobCommands,
  Promoter,
  Publisher,
  Reaper,
  Relay,
  Retention,
  Submitter,
  Worker,
} from '@deadman/engine';
import type { HandlerRegistry, RetentionOptions, WorkerOptions } from '@deadman/engine';
import { ReaperLoops } from '@deadman/service-host';
import { Roles } from './roles.js';

/** An implementation of every port that keeps or carries something. */
export interface Adapters {
  readonly store: JobStore;
  /** The same store over connections that serve nothing but the API's reads. */
  readonly reads: JobStore;
  readonly registry: WorkerRegistry;
  /** The same registry over connections that serve nothing but the worker's beats. */
  readonly beats: WorkerRegistry;
  readonly notices: StoreNotices;
  readonly transport: Transport;
  readonly leases: LeaseStore;
  readonly effects: EffectStore;
  readonly wakeUps: WakeUpSet;
}

/** An implementation of every other port. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly events: EngineEvents;
  readonly failpoints: Failpoints;
}

/** What the API hands requests to. */
export interface Intake {
  readonly publisher: Publisher;
  readonly submitter: Submitter;
  readonly commands: JobCommands;
}

export interface RoleSettings {
  /** The instance's name, for people. */
  readonly name: string;
  readonly handlers: HandlerRegistry;
  readonly handlerLog: (job: HandlerJob) => HandlerLog;
  readonly queues: readonly string[];
  readonly worker: Pick<WorkerOptions, 'slots' | 'drainMs' | 'abortGraceMs'>;
  readonly policy: LeasePolicy;
  readonly limits: JobLimits;
  readonly reaper: { readonly scanMs: number; readonly relayAgeMs: number };
  readonly retention: Partial<RetentionOptions>;
  /** Samples, for the metrics, what only the store knows. */
  readonly sampleGauges: () => Promise<void>;
}

export function makeIntake(adapters: Adapters, surroundings: Surroundings, limits: JobLimits): Intake {
  const publisher = new Publisher({ ...adapters, ...surroundings });
  const submitter = new Submitter({ ...adapters, ...surroundings, publisher });
  const commands = new JobCommands({ ...adapters, publisher, rules: { limits, random: surroundings.random } });
  return { publisher, submitter, commands };
}

/** The worker knows the types of its handlers from its first beat on, so all handlers have to be registered before. */
export function makeRoles(
  adapters: Adapters,
  surroundings: Surroundings,
  { publisher }: Intake,
  settings: RoleSettings,
): Roles {
  const { name, handlers, handlerLog, queues, worker, policy, limits, reaper, retention } = settings;
  const deps = { ...adapters, ...surroundings, publisher, rules: { limits, random: surroundings.random } };
  const reaping = new ReaperLoops(
    {
      ...deps,
      reaper: new Reaper(deps, { name, policy }),
      promoter: new Promoter(deps),
      relay: new Relay(deps, { olderThanMs: reaper.relayAgeMs }),
      retention: new Retention(deps, retention),
    },
    { scanMs: reaper.scanMs, sampleGauges: settings.sampleGauges },
  );
  return new Roles({
    ...deps,
    worker: new Worker(
      { ...deps, registry: adapters.beats, handlers, handlerLog },
      { name, queues, policy, limits, ...worker },
    ),
    reaping,
    recorder: new DeadLetterRecorder(deps),
  });
}
