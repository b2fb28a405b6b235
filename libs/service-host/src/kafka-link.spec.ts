import { DeadmanError } from '@deadman/domain';
import { createLogger, createMetricsRegistry } from '@deadman/observability';
import { FakeClock, FixedRandom, RecordingEvents } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { EXIT } from './exit-code.js';
import { linkKafka } from './kafka-link.js';

describe('linkKafka', () => {
  it.each([
    [
      'of a topic that is made otherwise than configured with 78',
      new DeadmanError('configuration-invalid'),
      EXIT.config,
    ],
    ['of anything else with 69, since trying again may help', new Error('lost too often'), EXIT.unavailable],
  ])('ends the process because %s', (_title, error, code) => {
    const ends: unknown[] = [];
    const info = { service: 'worker', instance: 'w', version: '0' };
    const { deps } = linkKafka({
      kafka: { brokers: ['127.0.0.1:9092'], partitions: 12 },
      topics: ['jobs.ready'],
      info,
      clock: new FakeClock(),
      random: new FixedRandom(),
      logger: createLogger(info, { level: 'silent', format: 'json' }),
      events: new RecordingEvents(),
      registry: createMetricsRegistry(info),
      health: { recheck: () => Promise.resolve() },
      giveUp: (...end) => ends.push(end),
    });
    deps.onFatal!(error);
    expect(ends).toEqual([[code, error]]);
  });
});
