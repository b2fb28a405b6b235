import { isDeadmanError } from '@deadman/domain';
import { exitOnInvalidConfig, SystemClock, SystemRandom } from '@deadman/config';
import { createLogger, instanceName } from '@deadman/observability';
import { EXIT } from '@deadman/service-host';
import { migrate } from '@deadman/store';
import { KafkaTransport } from '@deadman/transport';
import { migrateConfig } from './config.js';

/**
 * Prepares what the services stand on, and ends: brings the schema up to date and creates the topics. The services never
 * do the first, and wait for it. Running it twice, or twice at once, does nothing.
 */
const config = exitOnInvalidConfig(migrateConfig, process.env);
const info = { service: 'migrate', instance: instanceName(config.process.instance), version: '' };
const logger = createLogger(info, config.logging);

try {
  await migrateSchema();
  if (config.kafka.brokers !== null) await createTopics(config.kafka.brokers);
  process.exit(EXIT.clean);
} catch (err) {
  const isHopeless = isDeadmanError(err, 'configuration-invalid');
  const advice = isHopeless ? 'it has to be configured otherwise' : 'it is safe to try again';
  logger.error({ event: 'migrate.failed', err }, `Not everything is prepared; ${advice}`);
  process.exit(isHopeless ? EXIT.config : EXIT.unavailable);
}

async function migrateSchema(): Promise<void> {
  const migrations = await migrate(config.database.url);
  logger.info({ event: 'schema.migrated', migrations }, 'The schema is up to date');
}

async function createTopics(brokers: readonly string[]): Promise<void> {
  const { queues } = config.queues;
  const { partitions } = config.kafka;
  const transport = new KafkaTransport(
    { clock: new SystemClock(), random: new SystemRandom(), events: { emit: () => undefined }, log: logger },
    { connection: { brokers, clientId: info.instance }, partitions },
  );
  await transport.ensureTopics(queues);
  await transport.close();
  logger.info({ event: 'topics.ready', queues, partitions }, 'The topics are there');
}
