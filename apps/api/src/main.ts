import 'reflect-metadata';
import { exitOnInvalidConfig } from '@deadman/config';
import { isDeadmanError } from '@deadman/domain';
import { createLogger, instanceName } from '@deadman/observability';
import { readFileSync } from 'node:fs';
import { apiConfig } from './config.js';
import { startService } from './service/start-service.js';

/** How the process ends when the database or a port cannot be had, and for a bug (`docs/decisions/003-exit-codes.md`). */
const EXIT_UNAVAILABLE = 69;
const EXIT_BUG = 70;
/** A shutdown only answers what has come in; one that takes longer is stuck. Milliseconds. */
const SHUTDOWN_WITHIN_MS = 30_000;

const config = exitOnInvalidConfig(apiConfig, process.env);
const info = { service: 'api', instance: instanceName(config.process.instance), version: readVersion() };
const logger = createLogger(info, config.logging);
const stopping = new AbortController();

// Handled here and not by Nest, which raises the signal again once it is done: a clean end would look like a cut-off one.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.abort(signal));

process.on('uncaughtException', (err) => {
  logger.fatal({ event: 'service.crashed', err }, 'An error that nobody caught ends the process');
  process.exit(EXIT_BUG);
});

process.exit(await run());

async function run(): Promise<number> {
  try {
    const service = await startService({ config, info, logger, stopped: stopping.signal });
    const { port, managementPort } = service;
    logger.info({ event: 'service.started', port, managementPort }, 'Started');
    await aborted(stopping.signal);
    logger.info({ event: 'service.stopping', signal: stopping.signal.reason }, 'Answering what has come in');
    setTimeout(stuck, SHUTDOWN_WITHIN_MS).unref();
    await service.close();
    logger.info({ event: 'service.stopped' }, 'Stopped');
    return 0;
  } catch (err) {
    if (stopping.signal.aborted) return 0;
    logger.fatal({ event: 'service.failed', err }, 'The service failed');
    return isDeadmanError(err) || isPortRefused(err) ? EXIT_UNAVAILABLE : EXIT_BUG;
  }
}

/** The port is in use, or not ours to take. */
function isPortRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES');
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function stuck(): never {
  logger.fatal({ event: 'service.stuck' }, 'The shutdown did not end in time');
  process.exit(EXIT_BUG);
}

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}
