import { describe, expect, it } from '@jest/globals';
import { startFaultIn } from './start-fault.js';

const SOCKET = '/data/sockets/.s.PGSQL.20450';

describe('a server that ended at once', () => {
  it.each([
    ['earlier-server', 'FATAL:  lock file "postmaster.pid" already exists'],
    ['earlier-server', 'FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use'],
    [
      'no-socket',
      `LOG:  could not bind Unix address "${SOCKET}": Invalid argument\n` +
        'WARNING:  could not create Unix-domain socket in directory "/data/sockets"\n' +
        'FATAL:  could not create any Unix-domain sockets',
    ],
    ['no-socket', `FATAL:  could not set permissions of file "${SOCKET}": Invalid argument`],
    ['no-socket', `FATAL:  could not create lock file "${SOCKET}.lock": Operation not permitted`],
    [
      'port-taken',
      'LOG:  could not bind IPv4 address "127.0.0.1": Address already in use\n' +
        'FATAL:  could not create any TCP/IP sockets',
    ],
    ['other', 'FATAL:  unrecognized configuration parameter "no_such_setting"'],
  ] as const)('met %s, as its words say: %s', (fault, said) => {
    expect(startFaultIn(said)).toBe(fault);
  });
});
