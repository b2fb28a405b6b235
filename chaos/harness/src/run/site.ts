import { Services } from '@deadman/services';
import type { ServiceName, ServiceProcess, Settings } from '@deadman/services';
import { Stack } from '@deadman/stack';
import { BrokerWitness, createTestDatabase, eventually, SqlProbe } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { TopicNames } from '@deadman/transport';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { handlersIn } from './frozen-code.js';
import type { Life } from './lives.js';

/** A bound against hanging while servers come up, or back. Milliseconds. */
const UP_WITHIN_MS = 120_000;

const CREATE_LEDGER = readFileSync(new URL('../create-ledger.sql', import.meta.url), 'utf8');

export interface SiteOptions {
  /** Gets everything that the run leaves behind. Emptied first. */
  readonly folder: string;
  /** Of the stack, which is kept between runs. */
  readonly stackDir: string;
  /** The frozen code (`freezeCode`). */
  readonly code: string;
  readonly settings: Settings;
}

export interface Urls {
  readonly postgres: string;
  readonly redis: string;
  readonly kafka: string;
}

/** The services of one run, on real servers, with a database and a queue that no other run has. */
export class Site {
  readonly stack: Stack;
  readonly services: Services;
  readonly sql: SqlProbe;
  readonly witness: BrokerWitness;
  readonly queue: string;
  readonly urls: Urls;
  readonly folder: string;
  /** What handlers append to for each effect that was committed. */
  readonly sinkFile: string;
  readonly lives: Life[] = [];
  readonly #database: TestDatabase;
  #isOver = false;

  private constructor(options: SiteOptions, stack: Stack, urls: Urls, database: TestDatabase, witness: BrokerWitness) {
    this.stack = stack;
    this.urls = urls;
    this.folder = options.folder;
    this.sinkFile = join(options.folder, 'sink');
    this.queue = `chaos-${randomUUID().slice(0, 8)}`;
    this.sql = new SqlProbe(urls.postgres);
    this.witness = witness;
    this.#database = database;
    this.services = new Services({
      dataDir: options.folder,
      root: options.code,
      ownGroups: true,
      settings: {
        DATABASE_URL: urls.postgres,
        REDIS_URL: urls.redis,
        KAFKA_BROKERS: urls.kafka,
        DEADMAN_QUEUES: this.queue,
        DEADMAN_HANDLERS: handlersIn(options.code),
        // Workers start hundreds of times: what Node has compiled once it need not compile again.
        NODE_COMPILE_CACHE: join(options.code, 'compiled'),
        CHAOS_SINK: this.sinkFile,
        ...options.settings,
      },
    });
  }

  /** Brings the servers up, and makes database, ledger and topics. No service runs yet. */
  static async open(options: SiteOptions): Promise<Site> {
    rmSync(options.folder, { recursive: true, force: true });
    mkdirSync(options.folder, { recursive: true });
    const stack = new Stack({ dataDir: options.stackDir });
    const [postgres, redis, kafka] = (await stack.up()).map(({ url }) => url) as [string, string, string];
    const database = await createTestDatabase({ server: postgres });
    const witness = await BrokerWitness.connect(kafka.split(','));
    const site = new Site(options, stack, { postgres: database.url, redis, kafka }, database, witness);
    await site.services.prepare();
    await site.sql.rows(CREATE_LEDGER);
    return site;
  }

  /** Starts a service and does not wait. Each life writes a history of its own. */
  async launch(service: ServiceName, instance: string, settings: Settings = {}): Promise<LiveProcess> {
    const number = this.lives.filter((life) => life.instance === instance).length + 1;
    const historyFile = join(this.folder, 'history', `${instance}.${number}.ndjson`);
    const startedAtMs = Date.now();
    const process = await this.services.launch(service, instance, { DEADMAN_HISTORY_FILE: historyFile, ...settings });
    const open = { endedAtMs: null, wasKilled: false, stratum: null };
    const life: Life = { service, instance, number, historyFile, startedAtMs, ...open };
    this.lives.push(life);
    void process.ended.then(({ signal }) => {
      life.endedAtMs = Date.now();
      life.wasKilled = signal === 'SIGKILL' && !this.#isOver;
    });
    return { process, life };
  }

  async start(service: ServiceName, instance: string, settings?: Settings): Promise<LiveProcess> {
    const live = await this.launch(service, instance, settings);
    await live.process.untilReady();
    return live;
  }

  /** Starts many side by side, and waits until all are ready. */
  async startAll(fleet: readonly (readonly [ServiceName, string])[]): Promise<void> {
    await Promise.all(fleet.map(([service, instance]) => this.start(service, instance)));
  }

  /** Where clients hand jobs in. The port stays the same, whoever is killed. */
  get apiUrls(): readonly string[] {
    const apis = this.services.running.filter(({ record }) => record.service === 'api');
    return apis.map(({ url }) => url);
  }

  /** The database, as soon as it answers. */
  async untilDatabaseAnswers(): Promise<void> {
    await eventually(() => this.sql.rows('SELECT 1'), { withinMs: UP_WITHIN_MS, everyMs: 100 });
  }

  /** The run is over. Nothing runs any more, so nobody waits for a clean end, and these ends are no part of the run. */
  async endServices(): Promise<void> {
    this.#isOver = true;
    await this.services.killAll();
  }

  /** Ends all services, and removes the database and the topics. The servers go on, for the next run. */
  async close(): Promise<void> {
    await this.endServices();
    await this.stack.up();
    await this.witness.deleteTopics([new TopicNames().ready(this.queue)]).catch(() => undefined);
    await this.witness.disconnect();
    await this.sql.close();
    await this.#database.drop();
  }
}

export interface LiveProcess {
  readonly process: ServiceProcess;
  readonly life: Life;
}
