import { leasePolicy } from '@deadman/domain';
import type { EngineEvents } from '@deadman/domain';
import { Promoter, Publisher, Reaper, Relay, Retention } from '@deadman/engine';
import { RedisLeaseStore, RedisWakeUpSet } from '@deadman/leases';
import { fanOut, frameworkLog } from '@deadman/observability';
import {
  brokerCheck,
  linkKafka,
  makeVitals,
  PostgresLink,
  ReaperLoops,
  RedisLink,
  sampleGauges,
  TopicsWatch,
  watch,
} from '@deadman/service-host';
import type { RunningService, ServiceContext, Vitals } from '@deadman/service-host';
import { PostgresJobStore, PostgresStoreNotices } from '@deadman/store';
import type { PostgresDatabase } from '@deadman/store';
import { KafkaTransport } from '@deadman/transport';
import { NestFactory } from '@nestjs/core';
import type { ReaperConfig } from './config.js';
import { ReaperModule } from './reaper.module.js';
import { ScanWatch } from './scan-watch.js';

/** Silence of the scan loop after which it counts as stuck, whatever its turns bring. Milliseconds (operations: live). */
const SILENT_AFTER_MS = 60_000;

/** Answers on the management port at once, and reaps as soon as the database is there. Any number may run. */
export async function startReaper(context: ServiceContext<ReaperConfig>): Promise<RunningService> {
  const { config } = context;
  const vitals = makeVitals({ ...context, roles: ['reaper'] });
  const scans = new ScanWatch();
  const events = fanOut(vitals.events, scans);
  const postgres = new PostgresLink({ ...context, database: config.database, registry: vitals.registry });
  const redis = new RedisLink({ ...context, redis: config.redis });
  const kafka = linkKafka({ ...context, ...vitals, events, kafka: config.kafka, topics: [] });
  const brokers = brokerCheck(config.kafka.brokers, 'wake-ups wait in the outbox; workers find jobs by themselves');
  const topics = new TopicsWatch({ ...context, ...vitals });
  const checks = [...postgres.checks, ...redis.checks, brokers, topics.check, scans.check];
  const managementPort = await watch(vitals, checks, context);
  await redis.refuseEviction();
  const database = await postgres.open();
  vitals.health.watchLoop('reaper', SILENT_AFTER_MS);
  const transport = new KafkaTransport(kafka.deps, kafka.options);
  context.teardown.add('transport', () => transport.close());
  const loops = makeLoops({ ...context, events, vitals }, database, redis, transport);
  const app = await startApp(loops, vitals, context);
  await vitals.health.recheck();
  void topics.watch(() => transport.ensureTopics(config.queues.queues), context.stopped);
  return { facts: { managementPort }, close: () => app.close() };
}

interface LoopDeps extends ServiceContext<ReaperConfig> {
  readonly events: EngineEvents;
  readonly vitals: Vitals;
}

function makeLoops(
  deps: LoopDeps,
  database: PostgresDatabase,
  redis: RedisLink,
  transport: KafkaTransport,
): ReaperLoops {
  const { config, info, logger, random, vitals } = deps;
  const store = new PostgresJobStore(database);
  const publisher = new Publisher({ ...deps, transport, store });
  const leases = new RedisLeaseStore(redis.scripts);
  const { ttlMs, ...times } = config.leases;
  const parts = { ...deps, store, publisher, leases, rules: { limits: config.limits, random } };
  const onError = (err: unknown): void =>
    logger.debug({ event: 'postgres.listening-broken', err }, 'Listening is begun anew');
  return new ReaperLoops(
    {
      ...deps,
      notices: new PostgresStoreNotices({ url: config.database.url, onError }),
      reaper: new Reaper(parts, { name: info.instance, policy: leasePolicy(ttlMs, times) }),
      promoter: new Promoter({ ...parts, wakeUps: new RedisWakeUpSet(redis.scripts) }),
      relay: new Relay(parts, { olderThanMs: config.reaper.relayAgeMs }),
      retention: new Retention(parts, config.retention),
    },
    { scanMs: config.reaper.scanMs, sampleGauges: () => sampleGauges(store, vitals.metrics, config.queues.queues) },
  );
}

function startApp(
  loops: ReaperLoops,
  { health }: Vitals,
  { logger, teardown }: ServiceContext,
): Promise<{ close(): Promise<void> }> {
  const module = ReaperModule.forRoot({
    start: () => loops.start(),
    refuseWork: () => health.drain(),
    finish: () => loops.stop(),
    close: () => teardown.run(),
  });
  return NestFactory.createApplicationContext(module, { logger: frameworkLog(logger), abortOnError: false });
}
