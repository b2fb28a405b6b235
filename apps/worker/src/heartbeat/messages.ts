import type { EngineEvent, JobLimits, LeasePolicy, WorkerRecord } from '@deadman/domain';
import type { HeartNews, HeartWord } from '@deadman/engine';
import type { LogOptions, ServiceInfo } from '@deadman/observability';
import type { MessagePort } from 'node:worker_threads';

/** What the worker's thread sends to its heart's. Plain data. */
export type ToHeart =
  | { readonly kind: 'news'; readonly news: readonly HeartNews[] }
  /** The worker's thread turns. */
  | { readonly kind: 'alive' }
  /** One more beat, which is answered with `beat-done`. */
  | { readonly kind: 'beat'; readonly id: number }
  | { readonly kind: 'stop' };

/** What the heart's thread sends back. */
export type FromHeart =
  | { readonly kind: 'word'; readonly word: HeartWord }
  | { readonly kind: 'event'; readonly event: EngineEvent }
  /** The heart's thread turns. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'beat-done'; readonly id: number };

/** An error as plain data: a clone would lose its class and its code. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  readonly stack: string | null;
  readonly cause: WireError | null;
}

/** What the heart's thread starts with. */
export interface HeartSetup {
  readonly port: MessagePort;
  readonly worker: WorkerRecord;
  readonly policy: LeasePolicy;
  readonly limits: JobLimits;
  readonly quarantineWaitMs: number;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly info: ServiceInfo;
  readonly logging: LogOptions;
}

/** Longest time between two signs of life of one thread to the other. Milliseconds. */
const MAX_PULSE_MS = 1_000;

/** Both threads look at each other this often: several times in a beat, so that a TTL of silence is certain. */
export function pulseMs({ beatMs }: LeasePolicy): number {
  return Math.min(MAX_PULSE_MS, beatMs / 2);
}
