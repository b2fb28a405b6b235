import { DeadLetterRecorder } from '@deadman/engine';
import { frameworkLog } from '@deadman/observability';
import { brokerCheck, linkKafka, makeVitals, PostgresLink, sampleGauges, watch } from '@deadman/service-host';
import type { KafkaLink, RunningService, ServiceContext, Vitals } from '@deadman/service-host';
import { PostgresJobStore } from '@deadman/store';
import { KafkaTransport, TopicNames } from '@deadman/transport';
import { KafkaTicketServer, ServedTransport } from '@deadman/transport/nest';
import { NestFactory } from '@nestjs/core';
import type { DeadLetterConsumerConfig } from './config.js';
import { DeadLetterConsumerModule } from './dead-letter-consumer.module.js';
import { Recording, RECORDING_LOOP } from './recording.js';

/** Silence of the loop after which it counts as stuck. Milliseconds (operations: live). */
const SILENT_AFTER_MS = 120_000;

/** Answers on the management port at once, and records as soon as the database is there. */
export async function startDeadLetterConsumer(
  context: ServiceContext<DeadLetterConsumerConfig>,
): Promise<RunningService> {
  const { config } = context;
  const vitals = makeVitals({ ...context, roles: ['dead-letter-consumer'] });
  const postgres = new PostgresLink({ ...context, database: config.database, registry: vitals.registry });
  const topics = [new TopicNames().dead];
  const kafka = linkKafka({ ...context, ...vitals, kafka: config.kafka, topics });
  const brokers = brokerCheck(config.kafka.brokers, 'deaths wait in the outbox');
  const managementPort = await watch(vitals, [...postgres.checks, brokers, ...kafka.group.checks], context);
  const store = new PostgresJobStore(await postgres.open());
  vitals.health.watchLoop(RECORDING_LOOP, SILENT_AFTER_MS);
  const close = await serve(store, kafka, vitals, context);
  await vitals.health.recheck();
  return { facts: { managementPort }, close };
}

/** Returns what ends it. */
async function serve(
  store: PostgresJobStore,
  kafka: KafkaLink,
  { events, metrics, health }: Vitals,
  { logger, teardown, clock, random }: ServiceContext,
): Promise<() => Promise<void>> {
  const sender = new KafkaTransport(kafka.deps, kafka.options);
  teardown.add('transport', () => sender.close());
  const strategy = new KafkaTicketServer(kafka.deps, { ...kafka.options, topics: [new TopicNames().dead] });
  const transport = new ServedTransport(sender, strategy);
  const recorder = new DeadLetterRecorder({ transport, store, clock, random, events });
  const recording = new Recording({
    clock,
    random,
    events,
    recorder,
    sampleGauges: () => sampleGauges(store, metrics, []),
  });
  const module = DeadLetterConsumerModule.forRoot(transport, {
    start: () => recording.start(),
    refuseWork: () => health.drain(),
    finish: () => recording.stop(),
    close: () => teardown.run(),
  });
  const options = { strategy, logger: frameworkLog(logger), abortOnError: false };
  const app = await NestFactory.createMicroservice(module, options);
  await app.listen();
  return () => app.close();
}
