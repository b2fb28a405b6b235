import 'reflect-metadata';
import { exitOnInvalidConfig } from '@deadman/config';
import { runService } from '@deadman/service-host';
import { workerConfig } from './config.js';
import { startWorker } from './start-worker.js';

/** What a shutdown may take beyond the times that it gives handlers. Milliseconds. */
const SHUTDOWN_SLACK_MS = 30_000;

const config = exitOnInvalidConfig(workerConfig, process.env);
const { drainMs, abortGraceMs } = config.worker;

await runService({
  name: 'worker',
  config,
  manifest: new URL('../package.json', import.meta.url),
  shutdownMs: drainMs + abortGraceMs + SHUTDOWN_SLACK_MS,
  start: startWorker,
});
