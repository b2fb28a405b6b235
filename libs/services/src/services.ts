import { findFreePort } from '@deadman/embedded-postgres';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceError } from './service-error.js';
import { lengthOf } from './service-log.js';
import type { ServiceName } from './service-name.js';
import { ServiceProcess } from './service-process.js';
import type { End } from './service-process.js';
import { mainOf, writeRecords } from './service-record.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Settings of all services, as environment variables. */
export type Settings = Readonly<Record<string, string>>;

export interface ServicesOptions {
  /** Gets `services.json`, and the logs in `services/`. */
  readonly dataDir: string;
  /** `DATABASE_URL`, `REDIS_URL` and `KAFKA_BROKERS` among them. Nothing of our own environment is passed on but `PATH`. */
  readonly settings: Settings;
  /** The folder in which the services are compiled. Default: this repository. */
  readonly root?: string;
  /** The port of the first api. Default: any free one. */
  readonly apiPort?: number;
  /**
   * Whether each service has a process group of its own, so that a Ctrl-C reaches it through us and not twice. Default
   * false: what a test starts then ends with it.
   */
  readonly ownGroups?: boolean;
}

/** How many of each to start. */
export interface Fleet {
  readonly apis?: number;
  readonly workers?: number;
  readonly reapers?: number;
  readonly deadLetterConsumers?: number;
}

interface Ports {
  readonly port: number | null;
  readonly managementPort: number;
}

/**
 * Starts and ends the services as processes on this machine, from their compiled files with plain Node. Each has a log of
 * its own, and a name by which it is found, killed and started again on the same ports.
 *
 * One that ends stays down until somebody starts it again: whoever runs them decides whether an end was meant.
 */
export class Services {
  readonly #options: ServicesOptions;
  readonly #dataDir: string;
  readonly #ports = new Map<string, Ports>();
  readonly #running = new Map<string, ServiceProcess>();
  readonly #counts = new Map<ServiceName, number>();

  constructor(options: ServicesOptions) {
    this.#options = options;
    this.#dataDir = resolve(options.dataDir);
    mkdirSync(join(this.#dataDir, 'services'), { recursive: true });
  }

  /** Those that run, in the order of their starts. */
  get running(): readonly ServiceProcess[] {
    return [...this.#running.values()];
  }

  /** A service that runs, by its name. Throws `ServiceError` when there is none. */
  get(instance: string): ServiceProcess {
    const found = this.#running.get(instance);
    if (found === undefined) throw new ServiceError(`${instance} does not run`);
    return found;
  }

  /** Brings the schema up to date and creates the topics. Safe to repeat. */
  async prepare(): Promise<void> {
    const log = this.#logOf('migrate');
    const child = this.#spawn('migrate', log, {});
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0)
      throw new ServiceError(`The schema or the topics could not be prepared (exit code ${code}); see ${log}`);
  }

  /** Starts one and does not wait. @param instance its name; by default `worker-1`, `worker-2`, … */
  async launch(
    service: ServiceName,
    instance = this.#nextName(service),
    settings: Settings = {},
  ): Promise<ServiceProcess> {
    if (this.#running.has(instance)) throw new ServiceError(`${instance} runs already`);
    const { port, managementPort } = await this.#portsOf(service, instance);
    const log = this.#logOf(instance);
    const logStart = lengthOf(log);
    const child = this.#spawn(service, log, {
      DEADMAN_INSTANCE: instance,
      MANAGEMENT_PORT: String(managementPort),
      ...(port !== null && { PORT: String(port) }),
      ...settings,
    });
    await once(child, 'spawn');
    const started = new ServiceProcess(
      { service, instance, pid: child.pid!, port, managementPort, log },
      child,
      logStart,
    );
    this.#running.set(instance, started);
    this.#note();
    void started.ended.then(() => this.#forget(started));
    return started;
  }

  /** Starts one and waits until it is ready. */
  async start(service: ServiceName, instance?: string, settings?: Settings): Promise<ServiceProcess> {
    const started = await this.launch(service, instance, settings);
    await started.untilReady();
    return started;
  }

  /**
   * Starts a whole fleet, by default one of each, and waits until all are ready.
   *
   * @param stop starts no more of them once it aborts; what runs by then is left to whoever aborted it. Then it throws.
   */
  async startAll(
    { apis = 1, workers = 1, reapers = 1, deadLetterConsumers = 1 }: Fleet = {},
    stop?: AbortSignal,
  ): Promise<void> {
    const counts: readonly (readonly [ServiceName, number])[] = [
      ['api', apis],
      ['worker', workers],
      ['reaper', reapers],
      ['dead-letter-consumer', deadLetterConsumers],
    ];
    const started: ServiceProcess[] = [];
    for (const [service, count] of counts) {
      for (let number = 0; number < count; number += 1) {
        stop?.throwIfAborted();
        started.push(await this.launch(service));
      }
    }
    await Promise.all(started.map((process) => process.untilReady()));
    stop?.throwIfAborted();
  }

  /** Asks all to end, and waits until they have. */
  stopAll(): Promise<readonly End[]> {
    return Promise.all(this.running.map((process) => process.stop()));
  }

  /** Ends all as a crash would. */
  killAll(): Promise<readonly End[]> {
    return Promise.all(this.running.map((process) => process.kill()));
  }

  #spawn(service: ServiceName | 'migrate', log: string, settings: Settings): ReturnType<typeof spawn> {
    const file = openSync(log, 'a');
    const env = {
      PATH: process.env['PATH'] ?? '',
      NODE_ENV: 'test',
      DEADMAN_DATA_DIR: this.#dataDir,
      DEADMAN_LOG_FORMAT: 'json',
      ...this.#options.settings,
      ...settings,
    };
    const root = this.#options.root ?? ROOT;
    const args = ['--enable-source-maps', join(root, mainOf(service))];
    const detached = this.#options.ownGroups ?? false;
    const child = spawn(process.execPath, args, { cwd: root, env, detached, stdio: ['ignore', file, file] });
    closeSync(file);
    return child;
  }

  #logOf(instance: string): string {
    return join(this.#dataDir, 'services', `${instance}.log`);
  }

  #nextName(service: ServiceName): string {
    const number = (this.#counts.get(service) ?? 0) + 1;
    this.#counts.set(service, number);
    return `${service}-${number}`;
  }

  /** The same for every life of an instance, so that clients and probes find it again. */
  async #portsOf(service: ServiceName, instance: string): Promise<Ports> {
    const known = this.#ports.get(instance);
    if (known !== undefined) return known;
    const isFirstApi = service === 'api' && ![...this.#ports.values()].some(({ port }) => port !== null);
    const wanted = isFirstApi ? this.#options.apiPort : undefined;
    const port = service === 'api' ? (wanted ?? (await findFreePort())) : null;
    const ports = { port, managementPort: await findFreePort() };
    this.#ports.set(instance, ports);
    return ports;
  }

  #forget(ended: ServiceProcess): void {
    if (this.#running.get(ended.instance) !== ended) return;
    this.#running.delete(ended.instance);
    this.#note();
  }

  #note(): void {
    writeRecords(
      this.#dataDir,
      this.running.map(({ record }) => record),
    );
  }
}
