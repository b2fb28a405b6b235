import 'reflect-metadata';
import { exitOnInvalidConfig } from '@deadman/config';
import { runService } from '@deadman/service-host';
import { apiConfig } from './config.js';
import { startApi } from './service/start-api.js';

/** A shutdown only answers what has come in, which is bounded. Milliseconds. */
const SHUTDOWN_MS = 30_000;

await runService({
  name: 'api',
  config: exitOnInvalidConfig(apiConfig, process.env),
  manifest: new URL('../package.json', import.meta.url),
  shutdownMs: SHUTDOWN_MS,
  start: startApi,
});
