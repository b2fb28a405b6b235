import { jest } from '@jest/globals';
import { transportContract } from '../transport.contract.js';
import { freshPrefix, ObservedTransport, sharedBrokers } from './kafka-harness.contract.js';

jest.setTimeout(90_000);

transportContract('KafkaTransport', async () => {
  const brokers = await sharedBrokers();
  const topicPrefix = freshPrefix();
  const transport = new ObservedTransport({ connection: { brokers, clientId: 'contract' }, topicPrefix });
  await transport.ensureTopics(['default', 'mail']);
  return { transport, queues: ['default', 'mail'], close: () => transport.close() };
});
