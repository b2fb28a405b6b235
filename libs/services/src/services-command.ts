import { holdStartLock } from '@deadman/embedded-postgres';
import { SERVICES as SERVERS, Stack } from '@deadman/stack';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from './service-error.js';
import { isRunning, readRunning } from './service-record.js';
import type { ServiceRecord } from './service-record.js';
import { Services } from './services.js';
import type { Fleet } from './services.js';
import { StopOnSignal } from './stop-on-signal.js';

const USAGE = `npm run services -- [--workers 1] [--reapers 1] [--apis 1]   starts all four services; Ctrl-C stops them
npm run services -- status                                   what runs, and how it is
npm run services -- stop                                     stops them from elsewhere

They stand on npm run stack, which is brought up and left running. Logs: services/ in DEADMAN_DATA_DIR, by default .deadman.
`;

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** The api's port unless PORT says otherwise (0: any), or somebody has it. */
const API_PORT = 8_080;

const LOOK_EVERY_MS = 100;

/** How long a stop waits for services that drain. Milliseconds: their own bound and a little. */
const STOP_WITHIN_MS = 90_000;

/** Names of servers in the environment, and of settings that are passed on to the services. */
const PASSED_ON = /^(DEADMAN_(?!DATA_DIR|INSTANCE|TEST_)|NODE_ENV$|HOST$)/;

export interface ServicesCommand {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** From where a relative `DEADMAN_DATA_DIR` counts. */
  readonly root: string;
  readonly print: (text: string) => void;
}

/** `npm run services`: does what the arguments say and answers with the exit code. Throws `ServiceError` and `StackError`. */
export async function runServicesCommand(command: ServicesCommand): Promise<number> {
  const dataDir = resolve(command.root, command.env['DEADMAN_DATA_DIR'] || '.deadman');
  const [verb] = command.args;
  if (verb === 'status') return status(dataDir, command);
  if (verb === 'stop') return stop(dataDir, command);
  const fleet = parseFleet(command.args);
  if (fleet === null) {
    command.print(USAGE);
    return EXIT_USAGE;
  }
  return serve(fleet, dataDir, command);
}

/** Null for arguments that mean nothing. */
function parseFleet(args: readonly string[]): Fleet | null {
  const fleet: { -readonly [Name in keyof Fleet]: Fleet[Name] } = {};
  for (let at = 0; at < args.length; at += 2) {
    const [, name] = /^--(workers|reapers|apis)$/.exec(args[at]!) ?? [];
    const count = Number(args[at + 1]);
    if (name === undefined || !Number.isInteger(count) || count < 1 || count > 64) return null;
    fleet[name as 'workers' | 'reapers' | 'apis'] = count;
  }
  return fleet;
}

/** One command at a time: a second one would not know of the services of the first, and write its records over theirs. */
async function serve(fleet: Fleet, dataDir: string, command: ServicesCommand): Promise<number> {
  mkdirSync(dataDir, { recursive: true });
  const lock = holdStartLock(join(dataDir, 'services.lock'));
  if (lock === null || readRunning(dataDir).length > 0) {
    lock?.release();
    throw new ServiceError('They run already. To stop them: npm run services -- stop');
  }
  try {
    return await serveAlone(fleet, dataDir, command);
  } finally {
    lock.release();
  }
}

async function serveAlone(fleet: Fleet, dataDir: string, { env, print }: ServicesCommand): Promise<number> {
  const stack = new Stack({ dataDir, given: givenBy(env), log: (line) => print(`${line}\n`) });
  const servers = await stack.up();
  const urls = Object.fromEntries(servers.map(({ service, url }) => [URL_VARIABLE[service], url]));
  const apiPort = await apiPortOf(env);
  const settings = { ...passedOn(env), ...urls };
  const services = new Services({ dataDir, settings, ownGroups: true, ...(apiPort !== null && { apiPort }) });
  const stop = new StopOnSignal(services, print);
  try {
    await services.prepare();
    await services.startAll(fleet, stop.asked);
  } catch (error) {
    if (stop.asked.aborted) return exitCodeOf(await stop.finish());
    await services.killAll();
    throw error;
  }
  print(`\n${table(services.running.map(({ record }) => record))}\n`);
  print(`Ctrl-C stops them; the servers go on (npm run stack -- down). Records: ${shown(dataDir)}/services.json\n`);
  await untilAllHaveEnded(services, stop.asked, print);
  return stop.asked.aborted ? exitCodeOf(await stop.finish()) : EXIT_OK;
}

function exitCodeOf(isClean: boolean): number {
  return isClean ? EXIT_OK : EXIT_FAILED;
}

/** A service that ends by itself stays down, and is told of: hiding that would hide what made it end. */
async function untilAllHaveEnded(services: Services, asked: AbortSignal, print: (text: string) => void): Promise<void> {
  await Promise.all(
    services.running.map(async (process) => {
      const { code, signal } = await process.ended;
      if (!asked.aborted) print(`${process.instance} has ended (${signal ?? code}); its log: ${process.record.log}\n`);
    }),
  );
}

async function status(dataDir: string, { print }: ServicesCommand): Promise<number> {
  const records = readRunning(dataDir);
  if (records.length === 0) {
    print('None of them runs.\n');
    return EXIT_FAILED;
  }
  const states = await Promise.all(records.map(readyStateOf));
  print(table(records, states));
  return states.every((state) => state !== 'down') ? EXIT_OK : EXIT_FAILED;
}

async function readyStateOf({ managementPort }: ServiceRecord): Promise<string> {
  try {
    const answer = await fetch(`http://127.0.0.1:${managementPort}/health/ready`);
    return ((await answer.json()) as { status: string }).status;
  } catch {
    return 'no answer';
  }
}

async function stop(dataDir: string, { print }: ServicesCommand): Promise<number> {
  const records = readRunning(dataDir);
  for (const { pid } of records) process.kill(pid, 'SIGTERM');
  const deadlineMs = performance.now() + STOP_WITHIN_MS;
  while (records.some(isRunning)) {
    if (performance.now() > deadlineMs)
      throw new ServiceError('Some of them do not stop; see npm run services -- status');
    await sleep(LOOK_EVERY_MS);
  }
  print(
    records.length === 0 ? 'None of them ran.\n' : `Stopped: ${records.map(({ instance }) => instance).join(', ')}.\n`,
  );
  return EXIT_OK;
}

function table(records: readonly ServiceRecord[], states: readonly string[] = []): string {
  const head = ['INSTANCE', 'PID', 'API', 'MANAGEMENT', 'LOG', ...(states.length > 0 ? ['STATE'] : [])];
  const rows = records.map(({ instance, pid, port, managementPort, log }, index) => [
    instance,
    String(pid),
    port === null ? '' : `http://127.0.0.1:${port}`,
    `http://127.0.0.1:${managementPort}`,
    shown(log),
    ...(states.length > 0 ? [states[index]!] : []),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [head, ...rows].map((row) => `${line(row)}\n`).join('');
}

function shown(path: string): string {
  return relative(process.cwd(), path) || '.';
}

const URL_VARIABLE = { postgres: 'DATABASE_URL', redis: 'REDIS_URL', kafka: 'KAFKA_BROKERS' } as const;

function givenBy(env: NodeJS.ProcessEnv): Partial<Record<keyof typeof URL_VARIABLE, string>> {
  return Object.fromEntries(
    SERVERS.flatMap((server) => (env[URL_VARIABLE[server]] ? [[server, env[URL_VARIABLE[server]]]] : [])),
  );
}

/** What the person set for the services. */
function passedOn(env: NodeJS.ProcessEnv): Record<string, string> {
  const set = Object.entries(env).filter(([name, value]) => PASSED_ON.test(name) && value !== undefined);
  return { NODE_ENV: 'development', ...(Object.fromEntries(set) as Record<string, string>) };
}

/** The one that was asked for, or the usual one if it is free; null for any other. */
async function apiPortOf(env: NodeJS.ProcessEnv): Promise<number | null> {
  if (env['PORT']) return Number(env['PORT']) || null;
  const probe = createServer();
  try {
    probe.listen(API_PORT, '127.0.0.1');
    await once(probe, 'listening');
    return API_PORT;
  } catch {
    return null;
  } finally {
    probe.close();
  }
}
