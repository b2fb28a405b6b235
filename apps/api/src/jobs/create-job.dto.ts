import { DEFAULT_MAX_ATTEMPTS, DEFAULT_RETRY, JITTERS, unstorableReason } from '@deadman/domain';
import { z } from 'zod';
import { issueOf } from '../http/check-schema.js';
import { parseInstant } from '../http/instant.js';
import { FAULTS } from '../problems/fault.js';
import { JOB_RULES, JOB_TYPE } from './job-rules.js';

/** A text that cannot be stored is told so with 422; only one that can is measured by its other rules. */
function storable(check: (text: string) => string | null): (text: string, context: z.RefinementCtx<string>) => void {
  return (text, context) => {
    const reason = unstorableReason(text);
    const issue = reason === null ? check(text) : null;
    if (reason !== null) context.addIssue(issueOf(reason, FAULTS[reason].meaning.slice(0, -1)));
    else if (issue !== null) context.addIssue(issueOf('invalid-format', issue));
  };
}

function named(what: string, maxLength: number): (text: string) => string | null {
  return (text) => {
    if (text.length > maxLength) return `A ${what} has at most ${maxLength} characters`;
    return JOB_TYPE.test(text) ? null : `A ${what} is lower-case letters and digits, joined by '.', '_' or '-'`;
  };
}

export const JobType = z
  .string()
  .superRefine(storable(named('type', JOB_RULES.typeMaxLength)))
  .meta({
    description: 'Names the handler that runs the job.',
    pattern: JOB_TYPE.source,
    maxLength: JOB_RULES.typeMaxLength,
    examples: ['order.charge'],
  });

const Tag = z
  .string()
  .superRefine(
    storable((text) => {
      const length = text.length <= JOB_RULES.tagMaxLength ? text.length : Array.from(text).length;
      return length >= 1 && length <= JOB_RULES.tagMaxLength
        ? null
        : `A tag has 1 to ${JOB_RULES.tagMaxLength} characters`;
    }),
  )
  .meta({ minLength: 1, maxLength: JOB_RULES.tagMaxLength, examples: ['tenant:acme'] });

const seconds = (max: number): z.ZodInt => z.int().min(0).max(max);

const NoRetryRequest = z
  .strictObject({ kind: z.literal('none') })
  .meta({ id: 'NoRetry', description: 'The first failure is the last.' });

const FixedRequest = z
  .strictObject({
    kind: z.literal('fixed'),
    baseSeconds: seconds(JOB_RULES.retryMaxSeconds).default(DEFAULT_RETRY.baseMs / 1_000),
  })
  .meta({ id: 'FixedRetry', description: 'The same delay after every failure.' });

const ExponentialRequest = z
  .strictObject({
    kind: z.literal('exponential'),
    baseSeconds: seconds(JOB_RULES.retryMaxSeconds).default(DEFAULT_RETRY.baseMs / 1_000),
    factor: z.number().min(1).max(JOB_RULES.retryFactorMax).default(DEFAULT_RETRY.factor),
    maxSeconds: seconds(JOB_RULES.retryMaxSeconds)
      .optional()
      .meta({ description: 'Absent: 600, or `baseSeconds` when that is more.' }),
    jitter: z.enum(JITTERS).default(DEFAULT_RETRY.jitter),
  })
  .refine(({ baseSeconds, maxSeconds }) => maxSeconds === undefined || maxSeconds >= baseSeconds, {
    path: ['maxSeconds'],
    error: 'maxSeconds must not be below baseSeconds',
    params: { fault: 'out-of-range' },
  })
  .meta({
    id: 'ExponentialRetry',
    description: 'baseSeconds × factor^(failures − 1), at most maxSeconds, then jittered.',
  });

export const RetryRequest = z
  .discriminatedUnion('kind', [NoRetryRequest, FixedRequest, ExponentialRequest])
  .meta({ id: 'Retry', description: 'When a failed attempt is repeated. Absent members take the defaults.' });

export type RetryRequest = z.infer<typeof RetryRequest>;

const RunAt = z
  .string()
  .refine((text) => parseInstant(text) !== null, {
    error: 'An instant is RFC 3339 with a zone and a day that exists, such as 2027-02-28T12:00:00Z',
    params: { fault: 'invalid-format' },
  })
  .transform((text) => parseInstant(text) as Date)
  .meta({
    format: 'date-time',
    description: 'When the job is due, at most 10 years ahead. In the past means now. Excludes `delaySeconds`.',
  });

const members = {
  type: JobType,
  payload: z.unknown().optional().meta({
    description:
      'Any JSON, at most 262,144 bytes of text and 100 levels deep; `{}` when absent. It comes back as it was sent: big integers, `1.10`, the order of members.',
  }),
  queue: z.string().optional().meta({ description: 'A declared queue. Absent: the default queue.' }),
  runAt: RunAt.optional(),
  delaySeconds: seconds(JOB_RULES.aheadMaxSeconds)
    .optional()
    .meta({ description: 'Time until the job is due. Excludes `runAt`.' }),
  maxAttempts: z
    .int()
    .min(1)
    .max(JOB_RULES.maxAttemptsMax)
    .optional()
    .meta({ description: `Failures after which the job is dead. Absent: ${DEFAULT_MAX_ATTEMPTS}.` }),
  retry: RetryRequest.optional(),
  timeoutSeconds: z
    .int()
    .min(1)
    .max(JOB_RULES.timeoutMaxSeconds)
    .optional()
    .meta({ description: 'Longest run of one attempt. Absent: 900.' }),
  tags: z.array(Tag).max(JOB_RULES.tagsMax).optional(),
};

/** The body of `POST /jobs`. `runAt` beside `delaySeconds`, the queue and the payload are judged by `SubmissionReader`. */
export const CreateJob = z.strictObject(members).meta({ id: 'CreateJob' });

export type CreateJob = z.infer<typeof CreateJob>;

/** One job of a batch, where the key is a member because a header can name only one. */
export const CreateBatchJob = z
  .strictObject({
    ...members,
    idempotencyKey: z.string().optional().meta({
      description: 'One key space with the `Idempotency-Key` header: 1 to 255 printable ASCII characters.',
      maxLength: JOB_RULES.keyMaxLength,
    }),
  })
  .meta({ id: 'CreateBatchJob' });

export type CreateBatchJob = z.infer<typeof CreateBatchJob>;

const mode = z.enum(['atomic', 'partial']).default('atomic').meta({
  description: '`atomic`: all or none. `partial`: each on its own, answered 207.',
});

/**
 * The body of `POST /jobs/batch` without its jobs, which are judged one by one: a partial batch goes on with the good
 * ones.
 */
export const BatchEnvelope = z.strictObject({
  mode,
  jobs: z.array(z.unknown()).min(1).max(JOB_RULES.batchMaxJobs),
});

export type BatchEnvelope = z.infer<typeof BatchEnvelope>;

/** The same with its jobs, as it is documented. */
export const CreateBatch = z
  .strictObject({ mode, jobs: z.array(CreateBatchJob).min(1).max(JOB_RULES.batchMaxJobs) })
  .meta({ id: 'CreateBatch' });
