import 'reflect-metadata';
import { exitOnInvalidConfig } from '@deadman/config';
import { runService } from '@deadman/service-host';
import { standaloneConfig } from './config.js';
import { startStandalone } from './standalone.js';

/** What a shutdown may take beyond the times that it gives handlers. Milliseconds. */
const SHUTDOWN_SLACK_MS = 30_000;

const config = exitOnInvalidConfig(standaloneConfig, process.env);
const { drainMs, abortGraceMs } = config.worker;

await runService({
  name: 'standalone',
  config,
  manifest: new URL('../package.json', import.meta.url),
  shutdownMs: drainMs + abortGraceMs + SHUTDOWN_SLACK_MS,
  start: startStandalone,
});
