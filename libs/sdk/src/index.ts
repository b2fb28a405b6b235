export type {
  AbortReason,
  AbortReasonCode,
  EffectTransaction,
  Handler,
  HandlerContext,
  HandlerJob,
  HandlerLog,
  HandlerOutcome,
  NewJob,
  ParsedPayload,
  RetryRequest,
  RunStep,
  RunTransaction,
  SqlResult,
  SqlStatement,
  StepContext,
} from '@deadman/domain';
export { abortReasonOf } from './abort-reason.js';
export { defineJob } from './define-job.js';
export type { JobDefinition, JobOptions } from './define-job.js';
export { handlerOf, JobHandler, jobHandlerTypeOf } from './job-handler.js';
export type { JobHandlerDecorator, JobRunner } from './job-handler.js';
export { cancel, dead, done, MAX_SNOOZE_SECONDS, snooze } from './outcomes.js';
export type { Cancel, Dead, Done, Snooze } from './outcomes.js';
export type { PayloadInputOf, PayloadOf, PayloadSchema } from './payload-schema.js';
