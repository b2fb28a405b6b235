import { CreateBatch, CreateJob } from '../jobs/create-job.dto.js';
import type { OperationDescription } from './describe.decorator.js';
import {
  AttemptListResource,
  BatchResource,
  DeadLetterListResource,
  DeadLetterResource,
  JobListResource,
  JobResource,
  ProblemKindListResource,
  ProblemKindResource,
  QueueListResource,
  QueueResource,
} from './resources.js';

/** The words of the OpenAPI document, apart from the code that they describe. */

const JOB_HEADERS = ['ETag', 'Cache-Control'] as const;
const LIST_HEADERS = ['Cache-Control'] as const;
const BODY_PROBLEMS = ['malformed-json', 'body-too-large', 'unsupported-media-type'] as const;
const SUBMIT_PROBLEMS = [
  ...BODY_PROBLEMS,
  'payload-too-large',
  'unprocessable-request',
  'unknown-queue',
  'payload-too-deep',
  'text-not-storable',
  'data-rejected',
  'overloaded',
  'unknown-outcome',
  'shutting-down',
] as const;
const COMMAND_PROBLEMS = ['malformed-json', 'unsupported-media-type', 'job-not-found', 'unknown-outcome'] as const;

export const OPERATIONS = {
  createJob: {
    id: 'createJob',
    tag: 'Jobs',
    summary: 'Hand in a job',
    description:
      'The job is stored when this answers. With an `Idempotency-Key` the request can be repeated: the same key gives the same job, in its state of now.',
    headers: ['Idempotency-Key', 'Prefer', 'traceparent'],
    body: {
      schema: CreateJob,
      examples: {
        now: { type: 'demo.echo', payload: { hello: 'world' } },
        later: { type: 'demo.echo', payload: { hello: 'world' }, delaySeconds: 60 },
        withOptions: {
          type: 'order.charge',
          payload: { orderId: '1299', amount: 12.5 },
          maxAttempts: 8,
          retry: { kind: 'exponential', baseSeconds: 5, maxSeconds: 3_600 },
          tags: ['tenant:acme'],
        },
      },
    },
    answers: {
      201: {
        description: 'A new job. `warnings` says when no live worker has a handler for its type.',
        schema: JobResource,
        headers: [...JOB_HEADERS, 'Location', 'Idempotent-Replayed', 'Preference-Applied'],
      },
      200: {
        description: 'The job that the key belongs to.',
        schema: JobResource,
        headers: [...JOB_HEADERS, 'Idempotent-Replayed', 'Idempotency-Mismatch', 'Preference-Applied'],
      },
    },
    problems: [...SUBMIT_PROBLEMS, 'invalid-idempotency-key', 'idempotency-key-reused'],
  },
  createJobs: {
    id: 'createJobs',
    tag: 'Jobs',
    summary: 'Hand in up to 1,000 jobs',
    description:
      '`atomic`: all or none. `partial`: each on its own, and the answer says of each what became of it. The key of a job is its member `idempotencyKey`; the header is refused. `Prefer: handling=strict` is honoured in a partial batch.',
    headers: ['Prefer', 'traceparent'],
    body: {
      schema: CreateBatch,
      examples: {
        atomic: { mode: 'atomic', jobs: [{ type: 'demo.echo', payload: { n: 1 }, idempotencyKey: 'echo-1' }] },
        partial: { mode: 'partial', jobs: [{ type: 'demo.echo' }, { type: 'demo.sleep', payload: { ms: 100 } }] },
      },
    },
    answers: {
      201: {
        description: 'All are stored, at least one of them is new.',
        schema: BatchResource,
        headers: LIST_HEADERS,
      },
      200: { description: 'All were there already.', schema: BatchResource, headers: LIST_HEADERS },
      207: { description: 'Partial: each item has its own status.', schema: BatchResource, headers: LIST_HEADERS },
    },
    problems: [...SUBMIT_PROBLEMS, 'invalid-idempotency-key'],
  },
  listJobs: {
    id: 'listJobs',
    tag: 'Jobs',
    summary: 'List jobs',
    description: 'The same parameter several times means OR, different ones mean AND.',
    answers: { 200: { description: 'A page, which may be empty.', schema: JobListResource, headers: LIST_HEADERS } },
    problems: ['invalid-cursor', 'query-too-slow'],
  },
  getJob: {
    id: 'getJob',
    tag: 'Jobs',
    summary: 'Read a job',
    params: { id: 'The job’s id.' },
    headers: ['If-None-Match'],
    answers: {
      200: { description: 'The job.', schema: JobResource, headers: JOB_HEADERS },
      304: { description: 'The job is as `If-None-Match` says.', headers: JOB_HEADERS },
    },
    problems: ['job-not-found', 'query-too-slow'],
  },
  cancelJob: {
    id: 'cancelJob',
    tag: 'Jobs',
    summary: 'Cancel a job',
    params: { id: 'The job’s id.' },
    answers: {
      200: { description: 'The job is cancelled.', schema: JobResource, headers: JOB_HEADERS },
      202: {
        description: 'The job runs and was asked to stop. It ends cancelled or succeeded, and never runs again.',
        schema: JobResource,
        headers: [...JOB_HEADERS, 'Location'],
      },
    },
    problems: [...COMMAND_PROBLEMS, 'job-already-finished'],
  },
  retryJob: {
    id: 'retryJob',
    tag: 'Jobs',
    summary: 'Run a job again, or now',
    description: 'A dead or cancelled job gets a new budget and keeps its history; a failed or scheduled one runs now.',
    params: { id: 'The job’s id.' },
    answers: { 200: { description: 'The job is pending.', schema: JobResource, headers: JOB_HEADERS } },
    problems: [...COMMAND_PROBLEMS, 'job-not-retryable'],
  },
  listAttempts: {
    id: 'listAttempts',
    tag: 'Jobs',
    summary: 'List the attempts of a job, oldest first',
    params: { id: 'The job’s id.' },
    answers: { 200: { description: 'A page of attempts.', schema: AttemptListResource, headers: LIST_HEADERS } },
    problems: ['invalid-cursor', 'job-not-found', 'query-too-slow'],
  },
  listQueues: {
    id: 'listQueues',
    tag: 'Queues',
    summary: 'List the declared queues',
    answers: { 200: { description: 'All queues.', schema: QueueListResource, headers: LIST_HEADERS } },
    problems: ['query-too-slow'],
  },
  getQueue: {
    id: 'getQueue',
    tag: 'Queues',
    summary: 'Read a queue',
    params: { name: 'The queue’s name.' },
    answers: {
      200: {
        description: 'Jobs by state, counted up to 10,000, and the age of the oldest pending one.',
        schema: QueueResource,
        headers: LIST_HEADERS,
      },
    },
    problems: ['queue-not-found', 'query-too-slow'],
  },
  listDeadLetters: {
    id: 'listDeadLetters',
    tag: 'Dead letters',
    summary: 'List dead letters',
    answers: {
      200: { description: 'A page, which may be empty.', schema: DeadLetterListResource, headers: LIST_HEADERS },
    },
    problems: ['invalid-cursor', 'query-too-slow'],
  },
  getDeadLetter: {
    id: 'getDeadLetter',
    tag: 'Dead letters',
    summary: 'Read a dead letter',
    params: { id: 'The letter’s id.' },
    answers: { 200: { description: 'The dead letter.', schema: DeadLetterResource, headers: LIST_HEADERS } },
    problems: ['dead-letter-not-found', 'query-too-slow'],
  },
  redriveDeadLetter: {
    id: 'redriveDeadLetter',
    tag: 'Dead letters',
    summary: 'Run the job of a dead letter again',
    params: { id: 'The letter’s id.' },
    answers: { 200: { description: 'The job is pending.', schema: JobResource, headers: JOB_HEADERS } },
    problems: [
      'malformed-json',
      'unsupported-media-type',
      'dead-letter-not-found',
      'dead-letter-superseded',
      'job-not-retryable',
      'unknown-outcome',
    ],
  },
  listProblems: {
    id: 'listProblems',
    tag: 'Problems',
    summary: 'List what can go wrong',
    description: 'A page for browsers, JSON for everybody else.',
    answers: { 200: { description: 'All problems.', schema: ProblemKindListResource } },
    problems: [],
  },
  getProblem: {
    id: 'getProblem',
    tag: 'Problems',
    summary: 'Read what a problem means and what to do about it',
    description: 'What the `type` of a problem leads to. A page for browsers, JSON for everybody else.',
    params: { code: 'The problem’s code.' },
    answers: { 200: { description: 'The problem.', schema: ProblemKindResource } },
    problems: ['problem-not-found'],
  },
} as const satisfies Record<string, OperationDescription>;
