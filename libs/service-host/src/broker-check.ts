import type { HealthCheck } from '@deadman/observability';
import { connect } from 'node:net';

/** Up while any of the brokers takes a connection. Without one, wake-ups wait in the outbox. */
export function brokerCheck(brokers: readonly string[], effect: string): HealthCheck {
  return {
    name: 'kafka',
    critical: false,
    effect,
    check: async (signal) => {
      try {
        await Promise.any(brokers.map((broker) => reach(broker, signal)));
      } catch (error) {
        throw error instanceof AggregateError ? error.errors[0] : error;
      }
    },
  };
}

function reach(broker: string, signal: AbortSignal): Promise<void> {
  const [host, port] = [broker.slice(0, broker.lastIndexOf(':')), Number(broker.slice(broker.lastIndexOf(':') + 1))];
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const give = (end: () => void): void => {
      socket.destroy();
      end();
    };
    socket.once('connect', () => give(resolve)).once('error', (error) => give(() => reject(error)));
    signal.addEventListener('abort', () => give(() => reject(new Error('no answer in time'))), { once: true });
  });
}
