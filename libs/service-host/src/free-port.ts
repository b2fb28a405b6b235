import { createServer } from 'node:net';
import { CannotStart, EXIT } from './exit-code.js';

/**
 * Makes sure that a port can be listened on, before anything else is started: an instance that is going to fail must not
 * touch the database of the one that holds the port.
 *
 * @throws CannotStart naming the setting to change.
 */
export function assertPortIsFree(setting: string, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (cause) => reject(cannotListen(setting, host, port, cause)));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}

/** Why a port cannot be listened on, for the person who chose it. */
export function cannotListen(setting: string, host: string, port: number, cause: Error): CannotStart {
  const code = 'code' in cause ? cause.code : undefined;
  const why = code === 'EADDRINUSE' ? 'is in use' : `cannot be listened on (${cause.message})`;
  const message = `Port ${port} on ${host} ${why}. Stop what uses it, or set ${setting} to another port.`;
  return new CannotStart(EXIT.unavailable, message, { cause });
}
