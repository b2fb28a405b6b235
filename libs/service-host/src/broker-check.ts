import type { HealthCheck } from '@deadman/observability';
import { connect } from 'node:net';

/**
 * The request that every broker answers, also before anybody has logged in: which requests it knows (ApiVersions, key 18,
 * version 0, correlation 0, no client id), after its length.
 */
const QUESTION = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);

/**
 * Up while any of the brokers answers: one that only takes connections is frozen, or not there behind what takes them.
 * Without one, wake-ups wait in the outbox.
 */
export function brokerCheck(brokers: readonly string[], effect: string): HealthCheck {
  return {
    name: 'kafka',
    critical: false,
    effect,
    check: async (signal) => {
      try {
        await Promise.any(brokers.map((broker) => ask(broker, signal)));
      } catch (error) {
        throw error instanceof AggregateError ? error.errors[0] : error;
      }
    },
  };
}

function ask(broker: string, signal: AbortSignal): Promise<void> {
  const [host, port] = [broker.slice(0, broker.lastIndexOf(':')), Number(broker.slice(broker.lastIndexOf(':') + 1))];
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => void socket.write(QUESTION));
    const give = (end: () => void): void => {
      socket.destroy();
      end();
    };
    socket.once('data', () => give(resolve)).once('error', (error) => give(() => reject(error)));
    socket.once('close', () => reject(new Error('hung up without an answer')));
    signal.addEventListener('abort', () => give(() => reject(new Error('no answer in time'))), { once: true });
  });
}
