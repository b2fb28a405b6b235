import { describe, expect, it } from '@jest/globals';
import { envLines } from './stack-record.js';

describe('stack.env', () => {
  const server = { pid: 1, port: 1, dataDir: '/data', log: '/log' };

  it('names the servers that have a URL, in their usual order', () => {
    const records = {
      kafka: { ...server, url: '127.0.0.1:9092,127.0.0.1:9093' },
      redis: { ...server, url: null },
      postgres: { ...server, url: 'postgres://me:a-b_c@127.0.0.1:5432/deadman' },
    };
    expect(envLines(records)).toBe(
      'DATABASE_URL=postgres://me:a-b_c@127.0.0.1:5432/deadman\nKAFKA_BROKERS=127.0.0.1:9092,127.0.0.1:9093\n',
    );
  });

  it('quotes what a shell would take apart', () => {
    expect(envLines({ redis: { ...server, url: "redis://:pa$s&'word@host:6379" } })).toBe(
      String.raw`REDIS_URL='redis://:pa$s&'\''word@host:6379'` + '\n',
    );
  });
});
