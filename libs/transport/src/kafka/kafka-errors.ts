/** Names of kafkajs's errors that say nothing but that no broker answered. */
const UNREACHABLE = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSBrokerNotFound',
]);

/** Whether trying later, and nothing else, can help. kafkajs wraps the cause, sometimes twice, and calls it not retriable. */
export function isUnreachable(error: unknown): boolean {
  return causes(error).some(({ name }) => UNREACHABLE.has(name));
}

/** Kafka's names for a topic that is missing, as after a broker lost its disk, or is so new that its leaders do not serve it yet. */
const NOT_SERVED = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE']);

/** Whether making the topic, or waiting for it, can help. */
export function isNotServed(error: unknown): boolean {
  return causes(error).some((cause) => 'type' in cause && typeof cause.type === 'string' && NOT_SERVED.has(cause.type));
}

function causes(error: unknown): readonly Error[] {
  const found: Error[] = [];
  const look = (candidate: unknown): void => {
    if (!(candidate instanceof Error) || found.includes(candidate)) return;
    found.push(candidate);
    look(candidate.cause);
    if ('originalError' in candidate) look(candidate.originalError);
    if ('errors' in candidate && Array.isArray(candidate.errors)) candidate.errors.forEach(look);
  };
  look(error);
  return found;
}
