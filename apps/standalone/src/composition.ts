import { DEFAULT_LIMITS } from '@deadman/domain';
import type {
  Clock,
  EngineEvents,
  HandlerJob,
  HandlerLog,
  Ids,
  JobStore,
  LeasePolicy,
  LeaseStore,
  Random,
  Rules,
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
import type { HandlerRegistry } from '@deadman/engine';
import { Roles } from './roles.js';

/** An implementation of every port that keeps or carries something. */
export interface Adapters {
  readonly store: JobStore;
  readonly registry: WorkerRegistry;
  readonly notices: StoreNotices;
  readonly transport: Transport;
  readonly leases: LeaseStore;
  readonly wakeUps: WakeUpSet;
}

/** An implementation of every other port. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly events: EngineEvents;
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
  readonly queues: readonly string[];
  readonly slots: number;
  readonly policy: LeasePolicy;
  /** How long a shutdown lets handlers finish before it aborts them. Milliseconds. */
  readonly drainMs: number;
  readonly handlerLog: (job: HandlerJob) => HandlerLog;
}

export function makeIntake(adapters: Adapters, surroundings: Surroundings): Intake {
  const publisher = new Publisher({ ...adapters, ...surroundings });
  const submitter = new Submitter({ ...adapters, ...surroundings, publisher });
  const commands = new JobCommands({ ...adapters, publisher, rules: rulesOf(surroundings) });
  return { publisher, submitter, commands };
}

/** The worker knows the types of its handlers from its first beat on, so all handlers have to be registered before. */
export function makeRoles(
  adapters: Adapters,
  surroundings: Surroundings,
  { publisher }: Intake,
  { name, handlers, queues, slots, policy, drainMs, handlerLog }: RoleSettings,
): Roles {
  const deps = { ...adapters, ...surroundings, publisher, rules: rulesOf(surroundings) };
  const worker = new Worker({ ...deps, handlers, handlerLog }, { name, queues, slots, policy, drainMs });
  return new Roles({
    ...deps,
    worker,
    reaper: new Reaper(deps, { name, policy }),
    promoter: new Promoter(deps),
    relay: new Relay(deps),
    retention: new Retention(deps),
    recorder: new DeadLetterRecorder(deps),
  });
}

function rulesOf({ random }: Surroundings): Rules {
  return { limits: DEFAULT_LIMITS, random };
}
