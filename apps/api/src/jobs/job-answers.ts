import type { JobState } from '@deadman/domain';
import { Answer } from '../http/answer.js';
import type { Headers } from '../http/answer.js';
import { Problem } from '../problems/problem.js';
import { jobETag, jobJson } from './job-json.js';
import type { ShownJob } from './job-json.js';

const NO_STORE = { 'cache-control': 'no-store' };

/** A single job, with the headers that go with one. */
export function jobAnswer(
  status: 200 | 201 | 202,
  job: ShownJob,
  headers: Headers = {},
  warnings: readonly object[] = [],
): Answer {
  return Answer.json(status, jobJson(job, warnings), {
    ...NO_STORE,
    etag: jobETag(job),
    ...(status !== 200 && { location: `/jobs/${job.id}` }),
    ...headers,
  });
}

/** Told instead of a job that the client has already. */
export function unchangedAnswer(job: ShownJob): Answer {
  return Answer.notModified({ ...NO_STORE, etag: jobETag(job) });
}

/** JSON about jobs that is no single job. */
export function jobDataAnswer(status: number, body: string): Answer {
  return Answer.json(status, body, NO_STORE);
}

export function jobNotFound(): Problem {
  return new Problem('job-not-found');
}

export function alreadyFinished(job: ShownJob): Problem {
  const state = job.state.toLowerCase();
  return new Problem('job-already-finished', { detail: `The job is ${state}.`, members: { state, jobId: job.id } });
}

const HINTS: Partial<Record<JobState, string>> = {
  PENDING: 'The job waits for a worker already; nothing has to be done.',
  RUNNING: 'The job runs. Cancel it first, or wait for its end.',
  SUCCEEDED: 'The job succeeded. Submit a new one to do the work again.',
};

export function notRetryable(job: ShownJob): Problem {
  const state = job.state.toLowerCase();
  return new Problem('job-not-retryable', {
    detail: `The job is ${state}.`,
    members: {
      state,
      jobId: job.id,
      hint: HINTS[job.state] ?? 'The job changed meanwhile. Look at it, and ask again.',
    },
  });
}
