import { leasePolicy } from '@deadman/domain';
import type { EngineEvents, WorkerRecord } from '@deadman/domain';
import type { Heart } from '@deadman/engine';
import type { ServiceContext } from '@deadman/service-host';
import { once } from 'node:events';
import { MessageChannel, Worker as Thread } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type { WorkerConfig } from '../config.js';
import { pulseMs } from './messages.js';
import type { HeartSetup } from './messages.js';
import { ThreadHeart } from './thread-heart.js';
import type { HeartThread } from './thread-heart.js';

export interface HeartThreadDeps extends ServiceContext<WorkerConfig> {
  readonly events: EngineEvents;
}

/**
 * A heart in a thread of its own, with its own connections: a handler that blocks the worker's thread keeps its leases.
 * When that thread ends or falls silent, so does this process, which must not run jobs that nobody vouches for.
 */
export function startHeartThread(worker: WorkerRecord, { config, info, clock, events, crash }: HeartThreadDeps): Heart {
  const { ttlMs, ...times } = config.leases;
  const policy = leasePolicy(ttlMs, times);
  const { port1: near, port2: far } = new MessageChannel();
  const setup = (port: MessagePort): HeartSetup => ({
    port,
    worker,
    policy,
    limits: config.limits,
    quarantineWaitMs: config.worker.quarantineWaitMs,
    databaseUrl: config.database.url,
    redisUrl: config.redis.url,
    info,
    logging: config.logging,
  });
  const startThread = (port: MessagePort): HeartThread => run(setup(port));
  const deps = { clock, events, startThread, ports: { near, far }, onDeath: (error: Error) => crash(error) };
  return new ThreadHeart(deps, { pulseMs: pulseMs(policy), silentAfterMs: ttlMs });
}

function run(setup: HeartSetup): HeartThread {
  const entry = new URL('./thread.main.js', import.meta.url);
  const thread = new Thread(entry, { workerData: setup, transferList: [setup.port], name: 'heart' });
  let failure: Error | null = null;
  thread.once('error', (error) => (failure = error));
  return { ended: once(thread, 'exit').then(() => failure) };
}
