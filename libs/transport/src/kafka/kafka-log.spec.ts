import { FakeClock } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { logLevel } from 'kafkajs';
import { GIVEN_UP, KafkaLogFilter } from './kafka-log.js';

type Line = [level: string, message: string, fields: Record<string, unknown>];

function setUp() {
  const clock = new FakeClock();
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push([level, message, { ...fields }]);
  const filter = new KafkaLogFilter({ debug: at('debug'), warn: at('warn'), error: at('error') }, clock);
  const write = filter.creator(logLevel.WARN);
  const log = (message: string, fields: object = {}, level = logLevel.ERROR): void =>
    write({
      namespace: 'Consumer',
      level,
      label: 'x',
      log: { timestamp: 't', message, ...fields },
    });
  return { clock, lines, log };
}

describe('KafkaLogFilter', () => {
  it('writes a line once in thirty seconds, and then says how often it came', async () => {
    const { clock, lines, log } = setUp();
    for (let times = 0; times < 300; times += 1) {
      log('Connection error: connect ECONNREFUSED', { broker: 'a:1' });
      await clock.advance(100);
    }
    log('Connection error: connect ECONNREFUSED', { broker: 'a:1' });
    expect(lines.map(([, message, { repeats, broker }]) => [message, broker, repeats])).toEqual([
      ['Connection error: connect ECONNREFUSED', 'a:1', undefined],
      ['Connection error: connect ECONNREFUSED', 'a:1', 299],
    ]);
  });

  it('keeps lines apart that say something else', () => {
    const { lines, log } = setUp();
    log('Response Metadata', { error: 'one' });
    log('Response Metadata', { error: 'two' });
    log('Response Fetch', { error: 'one' });
    expect(lines).toHaveLength(3);
  });

  it('writes what belongs to every rebalance for those who look for it only', () => {
    const { lines, log } = setUp();
    log('Response Heartbeat(key: 12, version: 3)', { error: 'The group is rebalancing, so a rejoin is needed' });
    log('Connection error');
    log('Slow', {}, logLevel.WARN);
    expect(lines.map(([level]) => level)).toEqual(['debug', 'error', 'warn']);
  });

  it('writes that we cut a connection ourselves for those who look for it only', () => {
    const { lines, log } = setUp();
    log(`Connection error: ${GIVEN_UP}`, { broker: 'a:1' });
    log('Connection error: read ECONNRESET', { broker: 'a:1' });
    expect(lines.map(([level]) => level)).toEqual(['debug', 'error']);
  });

  it('remembers a bounded number of lines', () => {
    const { lines, log } = setUp();
    for (let number = 0; number < 1_000; number += 1) log(`line ${number}`);
    log('line 0');
    log('line 999');
    expect(lines).toHaveLength(1_001);
  });
});
