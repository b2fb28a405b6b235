import { describe, expect, it } from '@jest/globals';
import { whatToType } from './debian-packages.js';

describe('a missing server that cannot be installed here', () => {
  it('on Debian: names the exact command, and Docker Compose as the other way', () => {
    const message = whatToType(['redis-server', 'maven'], true, 'linux');
    expect(message).toContain('sudo apt-get install --no-install-recommends redis-server maven');
    expect(message).toContain('docker compose up -d');
    expect(message).toContain('DATABASE_URL, REDIS_URL and KAFKA_BROKERS');
  });

  it('on macOS: speaks of what Homebrew calls them', () => {
    expect(whatToType(['redis-server', 'default-jre-headless', 'maven'], false, 'darwin')).toContain(
      'brew install redis openjdk maven',
    );
  });

  it('elsewhere: says whose names these are', () => {
    expect(whatToType(['redis-server'], false, 'linux')).toContain("Debian's names): redis-server");
  });
});
