export { BrokerWitness } from './broker-witness.js';
export type { Offsets, Ownership } from './broker-witness.js';
export { deferred } from './deferred.js';
export type { Deferred } from './deferred.js';
export { eventually } from './eventually.js';
export type { EventuallyOptions } from './eventually.js';
export { FakeClock } from './fake-clock.js';
export { FaultProxy } from './fault-proxy.js';
export type { Direction, Fault, FaultScope, FlowFault, LinkFault } from './fault-proxy-fault.js';
export type { ReplyCutOptions } from './fault-proxy-reply-cut.js';
export { proxySocketFactory } from './fault-proxy-socket-factory.js';
export {
  aCancel,
  aClaim,
  aClaimedJob,
  aFailure,
  aJob,
  aJobSpec,
  aLapse,
  anAttemptError,
  aRelease,
  aRetry,
  aSnooze,
  aSubmission,
  aSubmissionDueIn,
  aSuccess,
  aTransition,
  TEST_RULES,
} from './job-builders.js';
export { RealClock } from './real-clock.js';
export { RecordingEvents } from './recording-events.js';
export type { UntilOptions } from './recording-events.js';
export { RecordingSink } from './recording-sink.js';
export { FixedRandom, SeededRandom } from './seeded-random.js';
export { SequenceIds } from './sequence-ids.js';
export { settle } from './settle.js';
export { PROBE_NAME, SqlProbe } from './sql-probe.js';
export {
  createTestDatabase,
  type TestDatabase,
  type TestDatabaseOptions,
  type TestDatabaseTemplate,
} from './test-database.js';
export { startTestRedis, type TestRedis } from './test-redis.js';
