import { describe, expect, it } from '@jest/globals';
import { banner } from './banner.js';

const FACTS = {
  version: '1.2.3',
  host: '127.0.0.1',
  port: 8080,
  managementPort: 8081,
  database: 'embedded PostgreSQL, data in .deadman/postgres',
  queues: ['default', 'mail'],
  slots: 16,
  types: ['demo.echo', 'email.send'],
};

describe('banner', () => {
  it('says what runs where', () => {
    const text = banner(FACTS);
    for (const part of ['1.2.3', '16 slots', 'default, mail', 'demo.echo, email.send', FACTS.database, ':8081']) {
      expect(text).toContain(part);
    }
  });

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8080'],
    ['0.0.0.0', 'http://127.0.0.1:8080'],
    ['::', 'http://[::1]:8080'],
    ['::1', 'http://[::1]:8080'],
    ['deadman.internal', 'http://deadman.internal:8080'],
  ])('prints a line for host %s that reaches it', (host, url) => {
    const line = banner({ ...FACTS, host })
      .split('\n')
      .find((text) => text.includes('-d '));
    expect(line?.trim()).toBe(
      `curl -s ${url}/jobs -H 'Content-Type: application/json' -d '{"type":"demo.echo","payload":{"hello":"world"}}'`,
    );
  });
});
