import { ATTEMPT_OUTCOMES, JITTERS, JOB_STATES } from '@deadman/domain';
import { z } from 'zod';
import { FAULT_CODES, PROBLEM_CODES } from '../problems/problem-page.js';

/**
 * What the api answers, as schemas. They document and are checked against real answers by the specs; no request is
 * slowed by them. Objects are open: a client ignores members it does not know.
 */

const instant = z.iso.datetime().meta({ examples: ['2026-11-29T12:00:00.000Z'] });
const whole = z.int().min(0).max(2_147_483_647);
const uuid = z.uuid();
const anyJson = z.unknown().optional();

const JobState = z.enum(JOB_STATES.map((state) => state.toLowerCase())).meta({
  id: 'JobState',
  description: '`failed` means that a retry is due at `scheduledFor`. succeeded, dead and cancelled end a job.',
});

const RetryPolicy = z
  .discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('none') }),
    z.looseObject({ kind: z.literal('fixed'), baseSeconds: z.number().min(0) }),
    z.looseObject({
      kind: z.literal('exponential'),
      baseSeconds: z.number().min(0),
      factor: z.number().min(1),
      maxSeconds: z.number().min(0),
      jitter: z.enum(JITTERS),
    }),
  ])
  .meta({ id: 'RetryPolicy' });

const Lease = z
  .looseObject({ workerId: uuid, attempt: whole, claimedAt: instant, workerSeenAt: instant.nullable() })
  .meta({ id: 'Lease', description: 'The hold of the worker that runs the job.' });

const LastError = z
  .looseObject({ name: z.string(), code: z.string().nullable(), message: z.string(), attempt: whole, at: instant })
  .meta({ id: 'LastError', description: 'What the latest failed attempt met; the attempt itself says more.' });

const Warning = z.looseObject({ code: z.string(), detail: z.string() }).meta({ id: 'Warning' });

const jobExample = {
  id: '0197b1c2-6f3a-7c11-9d55-0a5c2f6f7e10',
  type: 'order.charge',
  queue: 'default',
  state: 'failed',
  version: 7,
  payload: { orderId: '1299' },
  result: null,
  attempt: 2,
  failures: 2,
  lapses: 0,
  maxAttempts: 5,
  retry: { kind: 'exponential', baseSeconds: 2, factor: 2, maxSeconds: 600, jitter: 'full' },
  timeoutSeconds: 900,
  createdAt: '2026-11-29T12:00:00.000Z',
  scheduledFor: '2026-11-29T12:00:09.317Z',
  startedAt: '2026-11-29T12:00:05.002Z',
  finishedAt: null,
  lease: null,
  cancelRequestedAt: null,
  lastError: {
    name: 'GatewayTimeout',
    code: 'psp-timeout',
    message: 'The payment provider did not answer.',
    attempt: 2,
    at: '2026-11-29T12:00:06.114Z',
  },
  progress: null,
  idempotencyKey: 'order-1299',
  tags: ['tenant:acme'],
};

export const JobResource = z
  .looseObject({
    id: uuid,
    type: z.string(),
    queue: z.string(),
    state: JobState,
    version: whole.meta({ description: 'Rises with every change of state and every cancel request.' }),
    payload: anyJson.meta({ description: 'As it was sent.' }),
    result: anyJson.meta({ description: 'What the handler returned; null before success.' }),
    attempt: whole.meta({ description: 'Claims so far; never goes down.' }),
    failures: whole.meta({ description: 'How often the handler said no.' }),
    lapses: whole.meta({ description: 'How often a worker vanished under the job. Costs no attempt.' }),
    maxAttempts: whole,
    retry: RetryPolicy,
    timeoutSeconds: z.number(),
    createdAt: instant,
    scheduledFor: instant,
    startedAt: instant.nullable(),
    finishedAt: instant.nullable(),
    lease: Lease.nullable().meta({ description: 'Null unless the job runs.' }),
    cancelRequestedAt: instant.nullable(),
    lastError: LastError.nullable(),
    progress: anyJson.meta({ description: 'What the handler says of its progress.' }),
    idempotencyKey: z.string().nullable(),
    tags: z.array(z.string()),
    warnings: z.array(Warning).optional().meta({ description: 'Only on a 201.' }),
  })
  .meta({ id: 'Job', examples: [jobExample] });

function listOf<T extends z.ZodType>(id: string, item: T): z.ZodObject {
  return z
    .looseObject({
      items: z.array(item),
      nextCursor: z.string().nullable().meta({ description: 'Where the next page begins; null on the last.' }),
      limit: whole.meta({ description: 'What `limit` was taken to be.' }),
    })
    .meta({ id });
}

export const JobListResource = listOf('JobList', JobResource)
  .extend({
    count: whole.optional().meta({ description: 'With `count=exact`.' }),
    atLeast: z.boolean().optional().meta({ description: 'With `count=exact`: counting stopped at 10,000.' }),
  })
  .meta({ id: 'JobList' });

const Note = z.looseObject({ name: z.string(), message: z.string() });
const Issue = z.looseObject({ pointer: z.string(), message: z.string() });

const AttemptErrorResource = z
  .looseObject({
    name: z.string(),
    code: z.string().nullable(),
    message: z.string(),
    stack: z.string().nullable(),
    causes: z.array(Note),
    issues: z.array(Issue).meta({ description: 'Where a payload did not fit its handler’s schema.' }),
  })
  .meta({ id: 'AttemptError' });

export const AttemptResource = z
  .looseObject({
    attempt: whole,
    outcome: z.enum(ATTEMPT_OUTCOMES),
    workerId: uuid,
    startedAt: instant
      .nullable()
      .meta({ description: 'When the handler began; null when it did not, or nobody lived to tell.' }),
    finishedAt: instant.nullable(),
    error: AttemptErrorResource.nullable(),
    reclaimedBy: z.string().nullable().meta({ description: 'The reaper that took the job from its worker.' }),
    reason: z.string().nullable(),
  })
  .meta({ id: 'Attempt' });

export const AttemptListResource = listOf('AttemptList', AttemptResource);

export const DeadLetterResource = z
  .looseObject({
    id: uuid,
    jobId: uuid,
    attempt: whole,
    type: z.string(),
    queue: z.string(),
    reason: z.string().meta({ examples: ['exhausted'] }),
    error: AttemptErrorResource.nullable(),
    failures: whole,
    lapses: whole,
    diedAt: instant,
    recordedAt: instant,
    superseded: z.boolean().meta({ description: 'The job had left this death before the letter was recorded.' }),
  })
  .meta({ id: 'DeadLetter' });

export const DeadLetterListResource = listOf('DeadLetterList', DeadLetterResource);

const Counts = z
  .looseObject(Object.fromEntries(JOB_STATES.map((state) => [state.toLowerCase(), whole])))
  .meta({ id: 'QueueCounts' });

export const QueueResource = z
  .looseObject({
    name: z.string(),
    counts: Counts,
    atLeast: z.array(JobState).meta({ description: 'States of which there are at least as many as counted.' }),
    oldestPendingAgeSeconds: whole.nullable(),
  })
  .meta({ id: 'Queue' });

export const QueueListResource = listOf('QueueList', QueueResource);

const ErrorEntry = z
  .looseObject({
    pointer: z.string().optional().meta({ description: 'JSON Pointer into the body.' }),
    parameter: z.string().optional(),
    header: z.string().optional(),
    code: z.enum(FAULT_CODES),
    detail: z.string(),
  })
  .meta({ id: 'ProblemError', description: 'One fault, with one of pointer, parameter and header.' });

export const ProblemResource = z
  .looseObject({
    type: z.string().meta({ format: 'uri-reference', examples: ['/problems/invalid-request'] }),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().optional(),
    code: z.enum(PROBLEM_CODES),
    requestId: z.string(),
    retryable: z.boolean().meta({ description: 'Whether the same request may succeed later.' }),
    errors: z.array(ErrorEntry).optional().meta({ description: 'All faults of the request.' }),
    errorsOmitted: whole.optional().meta({ description: 'How many faults were too many to list.' }),
    limitBytes: whole.optional(),
    state: JobState.optional(),
    jobId: uuid.optional(),
    attempt: whole.optional(),
    hint: z.string().optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457.' });

const BatchItem = z
  .looseObject({
    index: whole,
    status: z.int().min(200).max(599),
    job: JobResource.optional(),
    problem: ProblemResource.optional(),
    replayed: z.boolean(),
    mismatch: z.array(z.string()).meta({ description: 'Members that differ from the request the key belongs to.' }),
  })
  .meta({ id: 'BatchItem', description: 'A job or a problem.' });

export const BatchResource = z.looseObject({ items: z.array(BatchItem) }).meta({ id: 'BatchResult' });

export const ProblemKindResource = z
  .looseObject({
    code: z.enum(PROBLEM_CODES),
    type: z.string(),
    title: z.string(),
    status: z.int().min(400).max(599),
    retryable: z.boolean(),
    meaning: z.string(),
    remedy: z.string(),
    errors: z.array(z.looseObject({ code: z.enum(FAULT_CODES), meaning: z.string() })),
  })
  .meta({ id: 'ProblemKind' });

export const ProblemKindListResource = listOf('ProblemKindList', ProblemKindResource);
