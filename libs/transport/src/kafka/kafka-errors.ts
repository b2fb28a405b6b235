import { TookTooLong } from './within.js';

/** Names of kafkajs's errors that say nothing but that no broker answered. */
const UNREACHABLE = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSBrokerNotFound',
  // Others wait for the same connection, and it does not come about.
  'KafkaJSLockTimeout',
]);

/**
 * The words of the plain `Error` that kafkajs throws of a broker that accepted the connection and answered nothing: the
 * first request, for the broker's versions, times out, and the next try takes the connection for a good one.
 */
const NEVER_ANSWERED = 'Broker not connected';

/** Whether trying later, and nothing else, can help. kafkajs wraps the cause, sometimes twice, and calls it not retriable. */
export function isUnreachable(error: unknown): boolean {
  return causes(error).some(
    (cause) => UNREACHABLE.has(cause.name) || cause.message === NEVER_ANSWERED || cause instanceof TookTooLong,
  );
}

/** Kafka's names for a topic that is missing, as after a broker lost its disk, or is so new that its leaders do not serve it yet. */
const NOT_SERVED = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE']);

/** Whether making the topic, or waiting for it, can help. */
export function isNotServed(error: unknown): boolean {
  return hasType(error, NOT_SERVED);
}

/** What brokers answer that have lost each other, or a disk, or have only just started. */
const NOT_WELL = new Set([
  'BROKER_NOT_AVAILABLE',
  'CORRUPT_MESSAGE',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'GROUP_LOAD_IN_PROGRESS',
  'KAFKA_STORAGE_ERROR',
  'LEADER_NOT_AVAILABLE',
  'NETWORK_EXCEPTION',
  'NOT_CONTROLLER',
  'NOT_COORDINATOR_FOR_GROUP',
  'NOT_LEADER_FOR_PARTITION',
  'REQUEST_TIMED_OUT',
]);

/** Whether the fault is the brokers', so that to end this process mends nothing: none answers, or those that do cannot serve. */
export function isBrokersFault(error: unknown): boolean {
  const isWithoutCoordinator = causes(error).some(({ name }) => name === 'KafkaJSGroupCoordinatorNotFound');
  return isWithoutCoordinator || isUnreachable(error) || hasType(error, NOT_WELL);
}

/** Kafka's names for a setting that it will not have, as where a provider keeps some to itself. */
const SETTING_REFUSED = new Set(['INVALID_CONFIG', 'INVALID_REQUEST', 'POLICY_VIOLATION']);

/** Whether a topic may be had without its settings. */
export function isSettingRefused(error: unknown): boolean {
  return hasType(error, SETTING_REFUSED);
}

function hasType(error: unknown, types: ReadonlySet<string>): boolean {
  return causes(error).some((cause) => 'type' in cause && typeof cause.type === 'string' && types.has(cause.type));
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
