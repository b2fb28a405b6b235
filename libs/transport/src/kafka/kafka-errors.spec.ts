import { DeadmanError } from '@deadman/domain';
import { FakeClock } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { isBrokersFault, isNotServed, isSettingRefused, isUnreachable } from './kafka-errors.js';
import { within } from './within.js';

/** As kafkajs makes them: by name, or by the type of a broker's answer. */
const named = (name: string): Error => Object.assign(new Error('x'), { name });
const answered = (type: string): Error => Object.assign(new Error('x'), { name: 'KafkaJSProtocolError', type });

describe('the errors of kafkajs', () => {
  it.each([
    'KafkaJSConnectionError',
    'KafkaJSConnectionClosedError',
    'KafkaJSRequestTimeoutError',
    'KafkaJSNoBrokerAvailableError',
    'KafkaJSBrokerNotFound',
    'KafkaJSLockTimeout',
  ])('%s, however it is wrapped, says that no broker answers', (name) => {
    const wrapped = Object.assign(new Error('a', { cause: new Error('b', { cause: named(name) }) }), {
      retriable: false,
    });
    for (const error of [named(name), wrapped])
      expect([isUnreachable(error), isBrokersFault(error)]).toEqual([true, true]);
  });

  it('so does the plain one of a broker that took the connection and never answered', () => {
    expect(isUnreachable(new Error('Broker not connected'))).toBe(true);
  });

  it('so does a wait of ours that ran out, and no other of our own', async () => {
    const clock = new FakeClock();
    const waiting = within(clock, 1_000, 'The look', new Promise(() => undefined)).catch((error: unknown) => error);
    await clock.advance(1_000);
    const error = await waiting;
    expect(error).toMatchObject({ code: 'transport-unavailable', message: 'The look took longer than 1000 ms' });
    expect(isUnreachable(error)).toBe(true);
    expect(isBrokersFault(new DeadmanError('transport-unavailable', 'no such partition'))).toBe(false);
  });

  it.each([
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
  ])('a broker that answers %s is at fault, and is there', (type) => {
    const error = new Error('wrapped', { cause: answered(type) });
    expect([isUnreachable(error), isBrokersFault(error)]).toEqual([false, true]);
  });

  it('a group without a coordinator is the brokers’ fault', () => {
    expect(isBrokersFault(named('KafkaJSGroupCoordinatorNotFound'))).toBe(true);
  });

  it.each(['TOPIC_AUTHORIZATION_FAILED', 'UNKNOWN_TOPIC_OR_PARTITION', 'SASL_AUTHENTICATION_FAILED', 'UNKNOWN'])(
    'a broker that answers %s is not at fault',
    (type) => expect(isBrokersFault(answered(type))).toBe(false),
  );

  it('tells a topic that is not served, and a setting that is refused, from each other', () => {
    const refused = Object.assign(new Error('x'), { errors: [answered('POLICY_VIOLATION')] });
    expect([isNotServed(refused), isSettingRefused(refused)]).toEqual([false, true]);
    const missing = answered('UNKNOWN_TOPIC_OR_PARTITION');
    expect([isNotServed(missing), isSettingRefused(missing)]).toEqual([true, false]);
  });
});
