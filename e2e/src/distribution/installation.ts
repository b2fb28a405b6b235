import { Services } from '@deadman/services';
import type { ServiceProcess, Settings } from '@deadman/services';
import type { Stack } from '@deadman/stack';
import { BrokerWitness, createTestDatabase, eventually, SqlProbe } from '@deadman/testing';
import type { TestDatabase } from '@deadman/testing';
import { TopicNames } from '@deadman/transport';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { JobClient } from '../job-client.js';
import { sharedStack } from '../run-stack.js';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Logs and records of the services, kept after the test for whoever wonders. */
const LOGS_DIR = join(ROOT, '.deadman', 'test', 'installations');

const HANDLERS = join(import.meta.dirname, '..', '..', 'fixtures', 'distribution-handlers.mjs');

const TOPICS = new TopicNames();

/** Each has a database of its own in Redis, by its place here: what wakes one's jobs is nobody else's. */
const INSTALLATIONS = ['due', 'outages', 'partitions', 'takeover', 'takeover-slow', 'cancel'] as const;

/** Tells this run's queues from those of an earlier one, whose topics the broker may still have. */
const RUN = randomUUID().slice(0, 8);

/** A queue that no other run uses. */
export const queueNamed = (name: string): string => `${name}-${RUN}`;

/** Whether everything takes as long as it does in life: `npm run test:full`. */
export const IS_FULL = process.env['DEADMAN_TEST_FULL'] === '1';

/** A TTL that tests can wait for (`protocol.md` §13). Milliseconds. */
export const TTL_MS = 2_000;

/** For whole processes, and their stack, that start on a busy machine. Milliseconds. */
export const START_LIMIT_MS = 300_000;

/** For one test: a bound against hanging, not a measurement. Milliseconds. */
export const TEST_LIMIT_MS = 240_000;

/** A Deadman of one suite: services, a database and queues of its own, on the servers of the run. */
export class Installation {
  readonly stack: Stack;
  readonly services: Services;
  readonly sql: SqlProbe;
  readonly witness: BrokerWitness;
  /** Where jobs go unless a test says otherwise; other installations use other topics. */
  readonly queue: string;
  /** URLs of the servers. */
  readonly urls: { readonly postgres: string; readonly redis: string; readonly kafka: string };
  readonly #queues: readonly string[];
  readonly #database: TestDatabase;
  readonly #firedFile: string;

  private constructor(name: string, settings: Settings, stack: Stack, parts: Parts) {
    this.stack = stack;
    this.queue = queueNamed(name);
    this.#queues = settings['DEADMAN_QUEUES']?.split(',') ?? [this.queue];
    this.urls = parts.urls;
    this.#database = parts.database;
    this.sql = new SqlProbe(parts.urls.postgres);
    this.witness = parts.witness;
    const dataDir = join(LOGS_DIR, name);
    rmSync(dataDir, { recursive: true, force: true });
    this.#firedFile = join(dataDir, 'fired');
    this.services = new Services({
      dataDir,
      settings: {
        DATABASE_URL: parts.urls.postgres,
        REDIS_URL: parts.urls.redis,
        KAFKA_BROKERS: parts.urls.kafka,
        DEADMAN_LEASE_TTL_MS: String(TTL_MS),
        DEADMAN_TIMEOUT_SLACK_MS: '1000',
        DEADMAN_QUEUES: this.queue,
        DEADMAN_HANDLERS: HANDLERS,
        E2E_FIRED: this.#firedFile,
        ...settings,
      },
    });
  }

  /** @param name names its queue, and the folder of its logs. */
  static async open(
    name: (typeof INSTALLATIONS)[number],
    settings: Settings = {},
    stack = sharedStack(),
  ): Promise<Installation> {
    const [postgres, redis, kafka] = (await stack.up()).map(({ url }) => url) as [string, string, string];
    const database = await createTestDatabase({ server: postgres });
    const witness = await BrokerWitness.connect(kafka.split(','));
    const urls = { postgres: database.url, redis: `${redis}/${1 + INSTALLATIONS.indexOf(name)}`, kafka };
    const installation = new Installation(name, settings, stack, { urls, database, witness });
    await installation.services.prepare();
    return installation;
  }

  get api(): ServiceProcess {
    return this.services.get('api-1');
  }

  get client(): JobClient {
    return new JobClient(this.api.url, this.queue);
  }

  get topic(): string {
    return TOPICS.ready(this.queue);
  }

  get group(): string {
    return TOPICS.groupOf(this.topic);
  }

  /** The name of the worker that runs a job, once one does. */
  runnerOf(jobId: string): Promise<string> {
    return eventually(
      async () => {
        const { name } = await this.sql.row<{ name: string }>(
          `SELECT w.name FROM deadman.jobs AS j JOIN deadman.workers AS w ON w.incarnation = j.lease_holder
           WHERE j.id = $1 AND j.state = 'RUNNING'`,
          [jobId],
        );
        return name;
      },
      { withinMs: 60_000 },
    );
  }

  /** The database's clock, against which everything is measured. */
  async now(): Promise<Date> {
    return (await this.sql.row<{ now: Date }>('SELECT clock_timestamp() AS now')).now;
  }

  /** The sum of a metric over all instances of a service that run. */
  async metric(service: string, name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const running = this.services.running.filter(({ record }) => record.service === service);
    const values = await Promise.all(running.map((process) => process.metric(name, labels)));
    return values.reduce((sum, value) => sum + value, 0);
  }

  /** How often each job's effect outside the database happened. */
  fired(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    if (!existsSync(this.#firedFile)) return counts;
    for (const id of readFileSync(this.#firedFile, 'utf8').split('\n').filter(Boolean)) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }

  async close(): Promise<void> {
    await this.services.killAll();
    await this.stack.up();
    await this.witness.deleteTopics(this.#queues.map((queue) => TOPICS.ready(queue)));
    await this.witness.disconnect();
    await this.sql.close();
    await this.#database.drop();
  }
}

interface Parts {
  readonly urls: Installation['urls'];
  readonly database: TestDatabase;
  readonly witness: BrokerWitness;
}
