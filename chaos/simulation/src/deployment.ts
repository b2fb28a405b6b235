import { DEFAULT_LIMITS, leasePolicy } from '@deadman/domain';
import type { EngineEvent, EngineEvents, JobLimits, LeasePolicy, Random, Rules, WorkerRecord } from '@deadman/domain';
import {
  DeadLetterRecorder,
  HandlerRegistry,
  JobCommands,
  Promoter,
  Publisher,
  Reaper,
  Relay,
  runLoop,
  Submitter,
  Worker,
} from '@deadman/engine';
import type { Heart, LoopSpec, WorkerDeps } from '@deadman/engine';
import { CountedIds } from './ids.js';
import type { Kernel } from './kernel.js';
import type { Process } from './process.js';
import type { RemotePorts } from './remote-ports.js';
import { simulatedHandler } from './sim-handler.js';
import type { RunListener } from './sim-handler.js';
import { ThreadHeart } from './thread-heart.js';

/** Shorter than in production, so that a schedule sees several; said in every report. Milliseconds. */
export const TTL_MS = 5_000;
export const POLICY: LeasePolicy = leasePolicy(TTL_MS, { cancelGraceMs: 8_000 });
export const LIMITS: JobLimits = { ...DEFAULT_LIMITS, quarantineMaxMs: 10_000, maxSnoozes: 3 };
/** Scaled down with the quarantine's backoff. Milliseconds. */
const QUARANTINE_WAIT_MS = 10_000;

export const DEFAULT_QUEUE = 'default';
/** A queue that not every worker serves. */
export const BULK_QUEUE = 'bulk';
export const QUEUES: readonly string[] = [DEFAULT_QUEUE, BULK_QUEUE];

/** Whether the worker of this number, from 0, serves both queues. Every other one does. */
export function servesBulk(number: number): boolean {
  return number % 2 === 0;
}

export const ROLES = ['api', 'worker', 'reaper', 'recorder'] as const;
export type Role = (typeof ROLES)[number];

/** What an api process can be asked. */
export interface Intake {
  readonly submitter: Submitter;
  readonly commands: JobCommands;
}

/** A running program: how it ends when it is told to, and what it can be asked. */
export interface Program {
  readonly stop: () => Promise<void>;
  readonly intake: Intake | null;
  /** Set for workers. */
  readonly worker: Worker | null;
}

export interface ProgramHost {
  readonly process: Process;
  readonly ports: RemotePorts;
  /** A number that no other life of a process has. */
  readonly life: number;
  readonly slots: number;
  /** What a worker has handlers for. */
  readonly jobTypes: readonly string[];
  /** What a worker takes jobs from. */
  readonly queues: readonly string[];
  readonly hear: (event: EngineEvent) => void;
  readonly kernel: Kernel;
  /** Starts a thread for a worker's heart; null when it beats in the main thread. */
  readonly startHeart: (() => { readonly thread: Process; readonly ports: RemotePorts }) | null;
  readonly runs: (worker: () => Worker) => RunListener;
}

/** What every part of the engine is given. */
interface Surroundings extends RemotePorts {
  readonly clock: Process['clock'];
  readonly random: Random;
  readonly ids: CountedIds;
  readonly events: EngineEvents;
  readonly rules: Rules;
  readonly publisher: Publisher;
}

/** Starts the engine's real code as the process of a role would. */
export function startProgram(role: Role, host: ProgramHost): Program {
  const starts = { api: startApi, worker: startWorker, reaper: startReaper, recorder: startRecorder };
  return starts[role](host, surroundingsOf(host));
}

function surroundingsOf({ process, ports, life, hear }: ProgramHost): Surroundings {
  const { clock } = process;
  const random = process.dice.split('engine');
  const events = { emit: hear };
  const publisher = new Publisher({ ...ports, clock, events });
  return { ...ports, clock, random, ids: new CountedIds(life), events, rules: { limits: LIMITS, random }, publisher };
}

function startApi(_host: ProgramHost, deps: Surroundings): Program {
  const submitter = new Submitter(deps);
  return { stop: () => submitter.close(), intake: { submitter, commands: new JobCommands(deps) }, worker: null };
}

function startWorker(host: ProgramHost, deps: Surroundings): Program {
  const { process, slots, jobTypes, queues, runs } = host;
  const handlers = new HandlerRegistry();
  const listener = runs(() => worker);
  for (const type of jobTypes) handlers.register(simulatedHandler(type, process, listener));
  const worker = new Worker(
    { ...deps, handlers, handlerLog: () => SILENT_LOG, ...heartOf(host, deps) },
    {
      name: process.name,
      queues,
      slots,
      policy: POLICY,
      limits: LIMITS,
      quarantineWaitMs: QUARANTINE_WAIT_MS,
      drainMs: 3_000,
      abortGraceMs: 1_000,
    },
  );
  void worker.start();
  void deps.notices.subscribe((notice) => (notice.kind === 'cancel' ? worker.cancel(notice.claims) : undefined));
  return { stop: async () => void (await worker.drain()), intake: null, worker };
}

/** How a worker makes its heart; nothing when it is to make its own, in its main thread. */
function heartOf(
  { process: main, kernel, startHeart }: ProgramHost,
  deps: Surroundings,
): Pick<WorkerDeps, 'makeHeart'> {
  if (startHeart === null) return {};
  const makeHeart = (worker: WorkerRecord): Heart => {
    const { thread, ports } = startHeart();
    const { clock } = thread;
    const surroundings = { ...ports, clock, random: thread.dice.split('engine'), events: deps.events };
    const options = { worker, policy: POLICY, limits: LIMITS, quarantineWaitMs: QUARANTINE_WAIT_MS };
    return new ThreadHeart({ kernel, main, thread }, surroundings, options);
  };
  return { makeHeart };
}

function startReaper({ process }: ProgramHost, deps: Surroundings): Program {
  const reaper = new Reaper(deps, { name: process.name, policy: POLICY });
  const promoter = new Promoter(deps);
  const relay = new Relay(deps);
  void deps.notices.subscribe((notice) => (notice.kind === 'due' ? promoter.nudge() : undefined));
  const loops: Pick<LoopSpec, 'name' | 'everyMs' | 'turn'>[] = [
    { name: 'reaper', everyMs: 1_000, turn: () => reaper.turn() },
    { name: 'promoter', everyMs: 1_000, turn: () => promoter.turn() },
    { name: 'wake-up', everyMs: 0, turn: (signal) => promoter.wakeTurn(signal) },
    { name: 'relay', everyMs: 1_000, turn: () => relay.turn() },
  ];
  const ending = new AbortController();
  const ends = loops.map((loop) => runLoop({ ...deps, ...loop, signal: ending.signal }));
  const stop = async (): Promise<void> => {
    ending.abort();
    await Promise.all(ends);
  };
  return { stop, intake: null, worker: null };
}

function startRecorder(_host: ProgramHost, deps: Surroundings): Program {
  const recorder = new DeadLetterRecorder(deps);
  void recorder.start();
  return { stop: () => recorder.stop(), intake: null, worker: null };
}

const SILENT_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
