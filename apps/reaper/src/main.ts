import 'reflect-metadata';
import { exitOnInvalidConfig } from '@deadman/config';
import { runService } from '@deadman/service-host';
import { reaperConfig } from './config.js';
import { startReaper } from './start-reaper.js';

/** A shutdown ends the turns that are under way, each of which is bounded. Milliseconds. */
const SHUTDOWN_MS = 30_000;

await runService({
  name: 'reaper',
  config: exitOnInvalidConfig(reaperConfig, process.env),
  manifest: new URL('../package.json', import.meta.url),
  shutdownMs: SHUTDOWN_MS,
  start: startReaper,
});
