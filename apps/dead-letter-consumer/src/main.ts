import 'reflect-metadata';
import { exitOnInvalidConfig } from '@deadman/config';
import { runService } from '@deadman/service-host';
import { deadLetterConsumerConfig } from './config.js';
import { startDeadLetterConsumer } from './start-dead-letter-consumer.js';

/** A shutdown ends the batch that is under way and leaves the group, both of which are bounded. Milliseconds. */
const SHUTDOWN_MS = 30_000;

await runService({
  name: 'dead-letter-consumer',
  config: exitOnInvalidConfig(deadLetterConsumerConfig, process.env),
  manifest: new URL('../package.json', import.meta.url),
  shutdownMs: SHUTDOWN_MS,
  start: startDeadLetterConsumer,
});
