import { JobCommands, Publisher, runLoop, Submitter } from '@deadman/engine';
import { frameworkLog, HttpMetrics, outboxCheck } from '@deadman/observability';
import {
  assertPortIsFree,
  brokerCheck,
  cannotListen,
  linkKafka,
  makeVitals,
  PostgresLink,
  sampleGauges,
  TopicsWatch,
  watch,
} from '@deadman/service-host';
import type { RunningService, ServiceContext, Vitals } from '@deadman/service-host';
import { PostgresJobStore, PostgresWorkerRegistry } from '@deadman/store';
import type { PostgresDatabase } from '@deadman/store';
import { KafkaTransport } from '@deadman/transport';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AddressInfo } from 'node:net';
import type { ApiParts } from '../api.module.js';
import type { ApiConfig } from '../config.js';
import { createApiApp } from '../create-api-app.js';
import { measureHttp } from '../http/measure-http.js';
import { ApiServiceModule } from './api-service.module.js';

/** Longest read. Milliseconds: a list that takes longer is told as `query-too-slow`. */
const READ_TIMEOUT_MS = 2_000;

/** Time between two samples of what only the store knows. Milliseconds; a guess. */
const GAUGES_EVERY_MS = 10_000;

/**
 * Answers on the management port at once, and listens for clients as soon as the database is there. With Kafka away it
 * takes jobs in all the same: their wake-ups wait in the outbox.
 */
export async function startApi(context: ServiceContext<ApiConfig>): Promise<RunningService> {
  const { config } = context;
  await assertPortIsFree('PORT', config.http.host, config.http.port);
  const vitals = makeVitals({ ...context, roles: ['api'] });
  const postgres = new PostgresLink({ ...context, database: config.database, registry: vitals.registry });
  const outbox = outboxCheck({ outboxAgeMs: () => postgres.ask((store) => store.outboxAgeMs()) });
  const brokers = brokerCheck(config.kafka.brokers, 'new jobs start later, by the idle claim of workers');
  const topics = new TopicsWatch({ ...context, ...vitals });
  const managementPort = await watch(vitals, [...postgres.checks, outbox, brokers, topics.check], context);
  const writes = await postgres.open();
  // Reads have connections of their own: slow lists hold up no submit.
  const statementTimeoutMs = Math.min(config.database.statementTimeoutMs, READ_TIMEOUT_MS);
  const reads = await postgres.open({ statementTimeoutMs });
  const kafka = linkKafka({ ...context, ...vitals, kafka: config.kafka, topics: [] });
  const transport = new KafkaTransport(kafka.deps, kafka.options);
  context.teardown.add('transport', () => transport.close());
  const parts = makeParts({ writes, reads, transport }, vitals, context);
  const sampling = startSampling(parts, vitals, context);
  const app = await createApp(parts, vitals, sampling, context);
  await listen(app, config);
  await vitals.health.recheck();
  void topics.watch(() => transport.ensureTopics(config.queues.queues), context.stopped);
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { facts: { port, managementPort }, close: () => app.close() };
}

interface Backends {
  readonly writes: PostgresDatabase;
  readonly reads: PostgresDatabase;
  readonly transport: KafkaTransport;
}

function makeParts(
  { writes, reads, transport }: Backends,
  { events }: Vitals,
  { config, clock, random, ids, failpoints }: ServiceContext<ApiConfig>,
): ApiParts {
  const store = new PostgresJobStore(writes);
  const publisher = new Publisher({ transport, store, clock, events, failpoints });
  return {
    store: new PostgresJobStore(reads),
    registry: new PostgresWorkerRegistry(reads),
    submitter: new Submitter({ store, publisher, clock, events, failpoints }),
    commands: new JobCommands({ store, publisher, rules: { limits: config.limits, random } }),
    ids,
    clock,
    queues: config.queues.queues,
  };
}

/** Returns what ends it. */
function startSampling(
  { store }: ApiParts,
  { events, metrics }: Vitals,
  { config, clock, random }: ServiceContext<ApiConfig>,
): () => Promise<void> {
  const ending = new AbortController();
  const turn = (): Promise<void> => sampleGauges(store, metrics, config.queues.queues);
  const spec = { name: 'gauges', everyMs: GAUGES_EVERY_MS, turn, clock, random, events, signal: ending.signal };
  const loop = runLoop(spec);
  return () => {
    ending.abort();
    return loop;
  };
}

async function createApp(
  parts: ApiParts,
  { registry, health }: Vitals,
  stopSampling: () => Promise<void>,
  { info, logger, teardown }: ServiceContext,
): Promise<NestFastifyApplication> {
  const module = ApiServiceModule.forRoot(parts, {
    refuseWork: () => {
      health.drain();
      return parts.submitter.close();
    },
    finish: stopSampling,
    close: () => teardown.run(),
  });
  const app = await createApiApp(module, { version: info.version, logger: frameworkLog(logger) });
  measureHttp(app, new HttpMetrics(registry));
  return app;
}

async function listen(app: NestFastifyApplication, { http: { host, port } }: ApiConfig): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    throw cannotListen('PORT', host, port, cause as Error);
  }
}
