import { describe, expect, it } from '@jest/globals';
import { GivenServer } from './given-server.js';

describe('a server that the environment names', () => {
  it('is found by the port of its URL, or the usual one', () => {
    expect(new GivenServer('postgres', 'postgres://me:secret@db.example:6543/jobs').port).toBe(6543);
    expect(new GivenServer('postgres', 'postgres://me@db.example/jobs').port).toBe(5432);
    expect(new GivenServer('redis', 'rediss://cache.example').port).toBe(6379);
    expect(new GivenServer('kafka', 'one.example:9094,two.example:9095').port).toBe(9094);
    expect(new GivenServer('kafka', '[::1]:9096').port).toBe(9096);
  });

  it('is refused by the name of its variable, without repeating what may be a password', () => {
    expect(() => new GivenServer('postgres', 'not a url: secret')).toThrow('DATABASE_URL does not name a server.');
    expect(() => new GivenServer('kafka', ',')).toThrow('KAFKA_BROKERS does not name a server.');
  });
});
