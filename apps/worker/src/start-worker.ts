import type { EngineEvents } from '@deadman/domain';
import { knownTypes } from '@deadman/handlers';
import type { HandlerExport } from '@deadman/handlers';
import { RedisLeaseStore } from '@deadman/leases';
import { frameworkLog, measureSlots } from '@deadman/observability';
import {
  brokerCheck,
  linkKafka,
  loadTeamHandlers,
  makeVitals,
  openEffects,
  PostgresLink,
  providedInstances,
  RedisLink,
  watch,
} from '@deadman/service-host';
import type { KafkaLink, RunningService, ServiceContext, Vitals } from '@deadman/service-host';
import { PostgresJobStore, PostgresWorkerRegistry } from '@deadman/store';
import type { PostgresDatabase } from '@deadman/store';
import { KafkaTransport, TopicNames } from '@deadman/transport';
import { KafkaTicketServer, ServedTransport } from '@deadman/transport/nest';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { WorkerConfig } from './config.js';
import { startHeartThread } from './heartbeat/heart-thread.js';
import { HostedWorker } from './hosted-worker.js';
import type { HostedWorkerDeps } from './hosted-worker.js';
import { WorkerModule } from './worker.module.js';

/** Silence of the claim loop after which it counts as stuck, whatever its turns bring. Milliseconds (operations: live). */
const SILENT_AFTER_MS = 90_000;

/** Answers on the management port at once, and works as soon as the database is there. */
export async function startWorker(context: ServiceContext<WorkerConfig>): Promise<RunningService> {
  const { config } = context;
  const loaded = await loadTeamHandlers(config.worker.handlers, process.cwd());
  const vitals = makeVitals({ ...context, roles: ['worker'], types: knownTypes(loaded) });
  const postgres = new PostgresLink({ ...context, database: config.database, registry: vitals.registry });
  const redis = new RedisLink({ ...context, redis: config.redis });
  const topics = config.queues.queues.map((queue) => new TopicNames().ready(queue));
  const kafka = linkKafka({ ...context, ...vitals, kafka: config.kafka, topics });
  const brokers = brokerCheck(config.kafka.brokers, 'new jobs start later, by the idle claim');
  const worker = new HostedWorker();
  measureSlots(vitals.registry, () => worker.slots);
  const checks = [...postgres.checks, ...redis.checks, brokers, ...kafka.group.checks, ...worker.checks];
  const managementPort = await watch(vitals, checks, context);
  await redis.refuseEviction();
  const database = await postgres.open();
  vitals.health.watchLoop('claim', SILENT_AFTER_MS);
  const app = await serve(worker, { ...context, vitals, database, redis, kafka, topics, loaded });
  await vitals.health.recheck();
  return {
    facts: { managementPort },
    // Nest closes a microservice's server before it runs the hooks, so what still runs is finished before that.
    close: async () => {
      vitals.health.drain();
      context.leaveBehind(await worker.drain(context.hurry));
      await app.close();
    },
  };
}

interface ServeDeps extends ServiceContext<WorkerConfig> {
  readonly vitals: Vitals;
  readonly database: PostgresDatabase;
  readonly redis: RedisLink;
  readonly kafka: KafkaLink;
  readonly topics: readonly string[];
  readonly loaded: readonly HandlerExport[];
}

async function serve(worker: HostedWorker, deps: ServeDeps): Promise<{ close(): Promise<void> }> {
  const { config, kafka, topics, loaded, vitals, hurry, teardown, logger } = deps;
  const sender = new KafkaTransport(kafka.deps, kafka.options);
  teardown.add('transport', () => sender.close());
  const timings = { offsetHoldMs: config.leases.ttlMs };
  const strategy = new KafkaTicketServer(kafka.deps, { ...kafka.options, timings, topics });
  const transport = new ServedTransport(sender, strategy);
  const module = WorkerModule.forRoot({
    transport,
    topics,
    teamModules: loaded.filter(({ kind }) => kind === 'module').map(({ value }) => value as DynamicModule),
    steps: (discovery) => ({
      start: () => worker.start(workerDeps(deps, transport, vitals.events), () => providedInstances(discovery)),
      refuseWork: () => vitals.health.drain(),
      finish: async () => void (await worker.drain(hurry)),
      close: () => teardown.run(),
    }),
  });
  const options = { strategy, logger: frameworkLog(logger), abortOnError: false };
  const app = await NestFactory.createMicroservice(module, options);
  await app.listen();
  return app;
}

function workerDeps(deps: ServeDeps, transport: ServedTransport, events: EngineEvents): HostedWorkerDeps {
  const { database, redis, config } = deps;
  return {
    ...deps,
    events,
    transport,
    store: new PostgresJobStore(database),
    registry: new PostgresWorkerRegistry(database),
    leases: new RedisLeaseStore(redis.scripts),
    effects: openEffects(database, config.database, deps),
    makeHeart: (record) => startHeartThread(record, { ...deps, events }),
  };
}
