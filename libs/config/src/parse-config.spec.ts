import { isDeadmanError, leasePolicy } from '@deadman/domain';
import type { JobLimits } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { ConfigError } from './config-error.js';
import { defineConfig, defineSlice } from './define-config.js';
import type { ConfigDefinition, ConfigOf } from './define-config.js';
import { parseConfig } from './parse-config.js';
import type { Environment } from './read-variable.js';
import { databaseSlice, optionalDatabaseSlice } from './slices/database-slice.js';
import { httpSlice } from './slices/http-slice.js';
import { optionalKafkaSlice } from './slices/kafka-slice.js';
import { leaseSlice } from './slices/lease-slice.js';
import { limitsSlice } from './slices/limits-slice.js';
import { loggingSlice } from './slices/logging-slice.js';
import { DIFFERENT_PORTS, managementSlice } from './slices/management-slice.js';
import { processSlice } from './slices/process-slice.js';
import { queuesSlice, SERVED_QUEUES_EXIST, servedQueuesSlice } from './slices/queues-slice.js';
import { reaperSlice } from './slices/reaper-slice.js';
import { optionalRedisSlice } from './slices/redis-slice.js';
import { retentionSlice } from './slices/retention-slice.js';
import { workerSlice } from './slices/worker-slice.js';
import { oneOf, wholeNumber } from './variable.js';

const EVERYTHING = defineConfig(
  {
    http: httpSlice,
    management: managementSlice,
    database: optionalDatabaseSlice,
    redis: optionalRedisSlice,
    kafka: optionalKafkaSlice,
    queues: queuesSlice,
    worker: workerSlice,
    lease: leaseSlice,
    limits: limitsSlice,
    reaper: reaperSlice,
    retention: retentionSlice,
    logging: loggingSlice,
    process: processSlice,
  },
  [DIFFERENT_PORTS],
);
const TAKES_IN_AND_RUNS = defineConfig({ queues: queuesSlice, served: servedQueuesSlice }, [SERVED_QUEUES_EXIST]);
const WITH_DATABASE = defineConfig({ database: databaseSlice });

const noFiles = (path: string): never => {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
};

const parse = (env: Environment): ConfigOf<typeof EVERYTHING> => parseConfig(EVERYTHING, env, noFiles);

function faultsOf(env: Environment, definition: ConfigDefinition = EVERYTHING, readTextFile = noFiles): string[] {
  try {
    parseConfig(definition, env, readTextFile);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ message }) => message);
    throw error;
  }
  return [];
}

describe('parseConfig: defaults', () => {
  it('gives the documented default of everything when nothing is set', () => {
    expect(parse({})).toEqual({
      http: { host: '127.0.0.1', port: 8_080 },
      management: { host: '127.0.0.1', port: 8_081 },
      database: { url: null, poolSize: 10, statementTimeoutMs: 5_000, connectTimeoutMs: 5_000 },
      redis: { url: null },
      kafka: { brokers: null, partitions: 12 },
      queues: { queues: ['default'] },
      worker: {
        slots: 16,
        handlers: null,
        transactions: 10,
        quarantineWaitMs: 60_000,
        drainMs: 25_000,
        abortGraceMs: 5_000,
      },
      lease: { ttlMs: 30_000, timeoutSlackMs: 5_000, cancelGraceMs: 30_000 },
      limits: {
        quarantineFrom: 7,
        quarantineBaseMs: 1_000,
        quarantineMaxMs: 60_000,
        crashBudget: 8,
        maxSnoozes: 1_000,
        minSnoozeMs: 1_000,
      },
      reaper: { scanMs: 1_000, relayAgeMs: 3_000 },
      retention: { finishedKeptMs: 7 * 86_400_000, deadKeptMs: 90 * 86_400_000, keyKeptMs: 7 * 86_400_000 },
      logging: { level: 'info', format: 'auto', historyFile: null },
      process: { environment: 'production', instance: null, dataDir: '.deadman' },
    });
  });

  it('treats an empty or blank variable as absent', () => {
    expect(parse({ PORT: '', DEADMAN_HANDLERS: '  ', DATABASE_URL: '' })).toEqual(parse({}));
  });

  it('fits what the domain wants to know', () => {
    const { limits, lease } = parse({ DEADMAN_LEASE_TTL_MS: '3000' });
    const domainLimits: JobLimits = limits;
    expect(domainLimits.crashBudget).toBe(8);
    expect(leasePolicy(lease.ttlMs, lease)).toMatchObject({ ttlMs: 3_000, beatMs: 1_000, cancelGraceMs: 30_000 });
  });

  it('cannot be changed by whoever receives it', () => {
    const config = parse({});
    expect(() => Object.assign(config.http, { port: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config, { http: null })).toThrow(TypeError);
  });
});

describe('parseConfig: values', () => {
  it('reads what is set, with the white space around it left out', () => {
    const config = parse({
      HOST: ' 0.0.0.0 ',
      PORT: '0',
      DATABASE_URL: 'postgres://user:secret@db:5432/deadman',
      KAFKA_BROKERS: 'one:9092, two:9092',
      DEADMAN_QUEUES: 'mail, slow.jobs ,mail',
      DEADMAN_LEASE_TTL_MS: '1000',
      DEADMAN_DEAD_KEPT_DAYS: '2',
      DEADMAN_LOG_LEVEL: 'debug',
      NODE_ENV: 'test',
    });
    expect(config.http).toEqual({ host: '0.0.0.0', port: 0 });
    expect(config.database.url).toBe('postgres://user:secret@db:5432/deadman');
    expect(config.kafka.brokers).toEqual(['one:9092', 'two:9092']);
    expect(config.queues.queues).toEqual(['mail', 'slow.jobs']);
    expect(config.lease.ttlMs).toBe(1_000);
    expect(config.retention.deadKeptMs).toBe(172_800_000);
    expect(config.logging.level).toBe('debug');
    expect(config.process.environment).toBe('test');
  });

  it.each([
    [{ PORT: '65536' }, 'PORT is "65536": it must be a whole number from 0 to 65535'],
    [{ PORT: '80.5' }, 'PORT is "80.5": it must be a whole number from 0 to 65535'],
    [{ PORT: '1e3' }, 'PORT is "1e3": it must be a whole number from 0 to 65535'],
    [{ DEADMAN_SLOTS: '0' }, 'DEADMAN_SLOTS is "0": it must be a whole number from 1 to 10000'],
    [{ DEADMAN_LEASE_TTL_MS: '999' }, 'DEADMAN_LEASE_TTL_MS is "999": it must be a whole number from 1000 to 3600000'],
    [{ DEADMAN_LOG_LEVEL: 'loud' }, 'DEADMAN_LOG_LEVEL is "loud": it must be one of debug, info, warn, error, silent'],
    [{ NODE_ENV: 'prod' }, 'NODE_ENV is "prod": it must be one of production, development, test'],
    [{ KAFKA_BROKERS: 'one' }, 'KAFKA_BROKERS is "one": it must be host:port, several between commas'],
  ])('refuses %j, naming the variable and what is allowed', (env, message) => {
    expect(faultsOf(env)).toEqual([message]);
  });

  it.each(['Mail', 'a b', 'a..b', '-a', 'a-', 'a,,b', ',', 'ä', 'a/b'])('refuses the queue list %j', (queues) => {
    expect(faultsOf({ DEADMAN_QUEUES: queues })).toEqual([expect.stringContaining('DEADMAN_QUEUES is')]);
  });

  it.each(['default', 'a', 'a1', 'mail.out', 'a-b_c.d', '0'])('takes the queue name %j', (queue) => {
    expect(parse({ DEADMAN_QUEUES: queue }).queues.queues).toEqual([queue]);
  });

  it('shows no more of a wrong value than helps', () => {
    expect(faultsOf({ PORT: 'x'.repeat(10_000) })[0]!.length).toBeLessThan(150);
  });
});

describe('parseConfig: faults', () => {
  it('tells all of them at once, in one error of the one table', () => {
    const env = { PORT: 'x', DEADMAN_SLOTS: '0', DEADMAN_QUARANTINE_BASE_MS: '9', DEADMAN_QUARANTINE_MAX_MS: '8' };
    expect(faultsOf(env)).toHaveLength(3);
    let thrown: unknown;
    try {
      parse(env);
    } catch (error) {
      thrown = error;
    }
    expect(isDeadmanError(thrown, 'configuration-invalid')).toBe(true);
    expect(String(thrown)).toMatch(/PORT[\s\S]*DEADMAN_SLOTS[\s\S]*DEADMAN_QUARANTINE_BASE_MS/);
  });

  it('says of a variable that is needed and absent what it must be', () => {
    expect(faultsOf({}, WITH_DATABASE)).toEqual([
      'DATABASE_URL is not set: it must be a URL that begins with postgres:// or postgresql://',
    ]);
  });

  it('checks rules between values, within a slice and across slices', () => {
    expect(faultsOf({ DEADMAN_QUARANTINE_BASE_MS: '9', DEADMAN_QUARANTINE_MAX_MS: '8' })).toEqual([
      'DEADMAN_QUARANTINE_BASE_MS and DEADMAN_QUARANTINE_MAX_MS: the first delay of a quarantine must not be longer than the longest',
    ]);
    expect(faultsOf({ PORT: '9000', MANAGEMENT_PORT: '9000' })).toEqual([
      'PORT and MANAGEMENT_PORT: they must differ, so that probes reach the service although the api is busy',
    ]);
    expect(faultsOf({ PORT: '0', MANAGEMENT_PORT: '0' })).toEqual([]);
  });

  it('serves only queues that exist, and without a word all of them', () => {
    const queues = { DEADMAN_QUEUES: 'default,mail' };
    expect(faultsOf({ ...queues, DEADMAN_SERVED_QUEUES: 'mail,post' }, TAKES_IN_AND_RUNS)).toEqual([
      'DEADMAN_QUEUES and DEADMAN_SERVED_QUEUES: every queue that is served has to be one of those that exist',
    ]);
    expect(faultsOf({ ...queues, DEADMAN_SERVED_QUEUES: 'mail' }, TAKES_IN_AND_RUNS)).toEqual([]);
    expect(parseConfig(TAKES_IN_AND_RUNS, queues, noFiles).served.queues).toBeNull();
  });

  it('does not judge a rule whose values are not valid by themselves', () => {
    expect(faultsOf({ PORT: 'x', MANAGEMENT_PORT: '8080' })).toHaveLength(1);
  });

  it('tells the fault of a variable that two slices read once', () => {
    const twice = defineConfig({ one: httpSlice, two: httpSlice });
    expect(faultsOf({ PORT: 'x' }, twice)).toHaveLength(1);
  });
});

describe('parseConfig: secrets', () => {
  it('never shows a wrong secret', () => {
    const messages = faultsOf({ DATABASE_URL: 'mysql://user:hunter2@db/x', REDIS_URL: 'hunter2' });
    expect(messages).toEqual([
      'DATABASE_URL is not valid (value hidden): it must be a URL that begins with postgres:// or postgresql://',
      'REDIS_URL is not valid (value hidden): it must be a URL that begins with redis:// or rediss://',
    ]);
  });

  it('reads a secret from the file that its twin names, without the line end', () => {
    const read = (path: string): string => {
      expect(path).toBe('/run/secrets/database');
      return 'postgres://user:secret@db/deadman\n';
    };
    const config = parseConfig(WITH_DATABASE, { DATABASE_URL_FILE: '/run/secrets/database' }, read);
    expect(config.database.url).toBe('postgres://user:secret@db/deadman');
  });

  it('refuses a secret that is given twice', () => {
    const env = { DATABASE_URL: 'postgres://db/x', DATABASE_URL_FILE: '/run/secrets/database' };
    expect(faultsOf(env)).toEqual(['DATABASE_URL and DATABASE_URL_FILE are both set: set one of them']);
  });

  it('says that a file cannot be read, or holds nothing valid, without showing what it holds', () => {
    expect(faultsOf({ DATABASE_URL_FILE: '/nowhere' })).toEqual([
      'DATABASE_URL_FILE names the file "/nowhere", which cannot be read (ENOENT)',
    ]);
    const read = ((): string => 'hunter2') as unknown as typeof noFiles;
    expect(faultsOf({ DATABASE_URL_FILE: '/file' }, EVERYTHING, read)).toEqual([
      expect.not.stringContaining('hunter2'),
    ]);
  });
});

describe('parseConfig: names', () => {
  it('refuses a DEADMAN_ name that nobody knows, and says which was probably meant', () => {
    expect(faultsOf({ DEADMAN_SLOT: '4', DEADMAN_LEASE_TTL: '5000' })).toEqual([
      'DEADMAN_LEASE_TTL is not a variable of Deadman: did you mean DEADMAN_LEASE_TTL_MS?',
      'DEADMAN_SLOT is not a variable of Deadman: did you mean DEADMAN_SLOTS?',
    ]);
  });

  it('leaves variables of other services and of other programs alone', () => {
    const onlyHttp = defineConfig({ http: httpSlice });
    expect(faultsOf({ DEADMAN_SLOTS: 'not even valid', PATH: '/bin', DEADMAN_TEST_SEED: '1' }, onlyHttp)).toEqual([]);
  });

  it("knows a service's own variables beside the shared ones", () => {
    const own = defineConfig({
      own: defineSlice('Own', {
        mode: oneOf({ name: 'DEADMAN_OWN_MODE', what: '…', default: 'a', values: ['a', 'b'] }),
        limit: wholeNumber({ name: 'DEADMAN_OWN_LIMIT', what: '…', default: null, min: 1, max: 2 }),
      }),
    });
    const config = parseConfig(own, { DEADMAN_OWN_MODE: 'b' });
    const mode: 'a' | 'b' = config.own.mode;
    const limit: number | null = config.own.limit;
    expect([mode, limit]).toEqual(['b', null]);
  });
});
