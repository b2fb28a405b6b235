import type { Logger } from '@deadman/observability';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { KafkaEventLog } from './kafka-event-log.js';

describe('KafkaEventLog', () => {
  let nowMs: number;
  let lines: [level: string, event: string][];
  let log: KafkaEventLog;

  beforeEach(() => {
    nowMs = 0;
    lines = [];
    const write =
      (level: string) =>
      ({ event }: { event: string }): void =>
        void lines.push([level, event]);
    const logger = { debug: write('debug'), info: write('info'), warn: write('warn') } as unknown as Logger;
    log = new KafkaEventLog(logger, () => nowMs);
  });

  it('warns of messages that mean nothing once in a while, by topic and reason, however many there are', () => {
    const malformed = { kind: 'malformed-message', topic: 'jobs.ready', reason: 'not-json', count: 1 } as const;
    for (let message = 0; message < 1_000; message += 1) log.on(malformed);
    expect(lines.filter(([level]) => level === 'warn')).toEqual([['warn', 'kafka.malformed']]);
    lines.length = 0;
    log.on({ ...malformed, topic: 'jobs.dead' });
    log.on({ ...malformed, reason: 'unreadable' });
    log.on({ ...malformed, reason: 'unreadable' });
    nowMs = 30_000;
    log.on(malformed);
    expect(lines.map(([level]) => level)).toEqual(['warn', 'warn', 'debug', 'warn']);
  });

  it('warns of a topic that cannot be read and of one that was mended, and says nothing of one that can', () => {
    const topic = { kind: 'topic-compression', topic: 'jobs.dead', compression: 'lz4' } as const;
    log.on({ ...topic, state: 'readable' });
    log.on({ ...topic, state: 'mended' });
    log.on({ ...topic, state: 'unreadable', error: new Error('not authorized') });
    log.on({ ...topic, state: 'unreadable', error: new Error('not authorized') });
    expect(lines).toEqual([
      ['warn', 'kafka.topic-mended'],
      ['warn', 'kafka.topic-unreadable'],
      ['debug', 'kafka.topic-unreadable'],
    ]);
  });

  it('warns of a consumer that is lost once in a while, and at once when it had been well in between', () => {
    const lost = { kind: 'consumer-lost', topic: 'jobs.ready', reason: 'unreachable', error: 0, failures: 0 } as const;
    log.on({ ...lost, retryInMs: 1 });
    log.on({ ...lost, retryInMs: 1 });
    log.on({ kind: 'partitions-assigned', topic: 'jobs.ready', partitions: [] });
    log.on({ ...lost, retryInMs: 1 });
    expect(lines.map(([level]) => level)).toEqual(['warn', 'debug', 'info', 'warn']);
  });
});
