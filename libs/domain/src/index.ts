export { DeadmanError, ERROR_CODES, isDeadmanError } from './errors.js';
export type { ErrorCode } from './errors.js';
export { ABORT_REASONS, AbortReason, OUTCOME } from './handler.js';
export type {
  AbortReasonCode,
  EffectTransaction,
  Handler,
  HandlerContext,
  HandlerJob,
  HandlerLog,
  HandlerOutcome,
  NewJob,
  ParsedPayload,
  RunStep,
  RunTransaction,
  SqlResult,
  SqlStatement,
  StepContext,
} from './handler.js';
export { NOW } from './job-event.js';
export type { Due, JobEvent, JobEventKind, LapseReason, ReleaseReason } from './job-event.js';
export { DEFAULT_LIMITS, quarantineDelayMs } from './job-limits.js';
export type { JobLimits } from './job-limits.js';
export { JOB_RULES, JOB_TYPE } from './job-rules.js';
export { ATTEMPT_OUTCOMES, isTerminal, JOB_STATES, TERMINAL_STATES } from './job-state.js';
export type { AttemptOutcome, JobState, TerminalState } from './job-state.js';
export { NO_COUNTS } from './job.js';
export type {
  AttemptError,
  AttemptRecord,
  Claim,
  ClaimedJob,
  DeadLetter,
  Job,
  JobCounters,
  JobSpec,
  JobView,
  LastError,
} from './job.js';
export { DEFAULT_LEASE_POLICY, leasePolicy, reasonToReclaim } from './lease-policy.js';
export type { LeasePolicy, Suspicion } from './lease-policy.js';
export { Clock } from './ports/clock.js';
export type { Timer } from './ports/clock.js';
export { EffectStore } from './ports/effect-store.js';
export type { BegunStep, ClaimRef, Effect, EffectReceipt, OpenTransaction, Step } from './ports/effect-store.js';
export { EngineEvents } from './ports/engine-events.js';
export type { EngineEvent } from './ports/engine-events.js';
export { FAILPOINTS, Failpoints, NO_FAILPOINTS } from './ports/failpoints.js';
export type { Failpoint } from './ports/failpoints.js';
export { Ids, isUuid } from './ports/ids.js';
export { JobStore } from './ports/job-store.js';
export type {
  Applied,
  ApplyReceipt,
  ApplyResult,
  DeadLetterQuery,
  DeathNotice,
  DueJob,
  IdleClaim,
  JobFilter,
  JobQuery,
  OutboxQuery,
  Page,
  Position,
  ProgressUpdate,
  PromoteReceipt,
  PurgeRequest,
  QueueStats,
  RecordedDeadLetter,
  Submission,
  SubmitReceipt,
  Submitted,
  Suspect,
  SuspectQuery,
  TicketClaim,
} from './ports/job-store.js';
export { LeaseStore } from './ports/lease-store.js';
export type { Lease, LeaseReading } from './ports/lease-store.js';
export { Random } from './ports/random.js';
export { StoreNotices } from './ports/store-notices.js';
export type { CancelledClaim, StoreNotice } from './ports/store-notices.js';
export { Transport } from './ports/transport.js';
export type { DeathHandler, OutboxEntry, Subscription, Ticket, TicketSink } from './ports/transport.js';
export { WakeUpSet } from './ports/wake-up-set.js';
export { WorkerRegistry } from './ports/worker-registry.js';
export type { BeatReply, BeatRequest, Belief, WorkerRecord } from './ports/worker-registry.js';
export { DEFAULT_MAX_ATTEMPTS, DEFAULT_RETRY, JITTERS, retryDelayMs } from './retry-policy.js';
export type { ExponentialBackoff, FixedDelay, Jitter, NoRetry, RetryPolicy } from './retry-policy.js';
export { toRetryPolicy } from './retry-request.js';
export type { RetryRequest } from './retry-request.js';
export { Silence } from './silence.js';
export { toStorableText, unstorableReason } from './storable-text.js';
export type { UnstorableReason } from './storable-text.js';
export { admit, Transition, transition } from './transition.js';
export type { AttemptEnd, Decision, Fence, JobSnapshot, Refusal, Rules, Verdict } from './transition.js';
