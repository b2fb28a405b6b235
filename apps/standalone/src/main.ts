import 'reflect-metadata';
import { exitOnInvalidConfig } from '@deadman/config';
import { createLogger, instanceName } from '@deadman/observability';
import { readFileSync } from 'node:fs';
import { banner } from './banner.js';
import { standaloneConfig } from './config.js';
import { CannotStart, EXIT } from './exit-code.js';
import type { ExitCode } from './exit-code.js';
import { startStandalone } from './standalone.js';
import type { Standalone } from './standalone.js';
import { StopSignals } from './stop-signals.js';
import { Teardown } from './teardown.js';

/** What a shutdown may take beyond the times that it gives handlers, before the process ends without it. Milliseconds. */
const SHUTDOWN_SLACK_MS = 30_000;

const config = exitOnInvalidConfig(standaloneConfig, process.env);
const info = { service: 'standalone', instance: instanceName(config.process.instance), version: readVersion() };
const logger = createLogger(info, config.logging);
const signals = new StopSignals();
const teardown = new Teardown((name, err) => logger.error({ event: 'service.close-failed', err }, `Closing: ${name}`));

// Whatever is thrown where nobody catches it leaves the process in a state that nobody planned. Its jobs are safe: they
// lapse, and run again.
process.on('uncaughtException', (err) => {
  logger.fatal({ event: 'service.crashed', err }, 'An error that nobody caught ends the process');
  process.exit(EXIT.bug);
});

process.exit(await run());

async function run(): Promise<ExitCode> {
  try {
    const started = startStandalone({ config, info, logger, teardown, hurry: signals.hurry });
    // A signal during the start does not wait for the start.
    const standalone = await Promise.race([started, signals.first.then(() => null)]);
    if (standalone !== null) await serveUntilSignal(standalone);
    await teardown.run();
    logger.info({ event: 'service.stopped' }, 'Stopped');
    return EXIT.clean;
  } catch (error) {
    await teardown.run();
    return failed(error);
  }
}

async function serveUntilSignal(standalone: Standalone): Promise<void> {
  const { port, managementPort, database, types } = standalone;
  logger.info({ event: 'service.started', port, managementPort, database, types }, 'Started');
  if (process.stdout.isTTY || config.process.environment === 'development') process.stdout.write(bannerOf(standalone));
  const signal = await signals.first;
  logger.info({ event: 'service.stopping', signal }, 'Finishing what runs; a second signal skips the waiting');
  const { drainMs, abortGraceMs } = config.worker;
  setTimeout(shutdownStuck, drainMs + abortGraceMs + SHUTDOWN_SLACK_MS).unref();
  await standalone.close();
}

function bannerOf({ port, managementPort, database, types }: Standalone): string {
  const { host } = config.http;
  const { queues } = config.queues;
  return banner({ ...info, host, port, managementPort, database, queues, slots: config.worker.slots, types });
}

function failed(error: unknown): ExitCode {
  if (error instanceof CannotStart) {
    logger.error({ event: 'service.refused', exitCode: error.exitCode }, error.message);
    return error.exitCode;
  }
  logger.fatal({ event: 'service.failed', err: error }, 'The service failed');
  return EXIT.bug;
}

function shutdownStuck(): never {
  logger.fatal(
    { event: 'service.stuck' },
    'The shutdown did not end in time; what still runs will lapse and run again',
  );
  process.exit(EXIT.bug);
}

function readVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}
