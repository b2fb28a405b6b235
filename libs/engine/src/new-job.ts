import { admit, DEFAULT_MAX_ATTEMPTS, DEFAULT_RETRY, JOB_RULES, JOB_TYPE, NOW, toRetryPolicy } from '@deadman/domain';
import type { Due, JobSpec, NewJob, Submission } from '@deadman/domain';
import { jsonText } from './json-text.js';

/** `protocol.md` §13. Seconds. */
const DEFAULT_TIMEOUT_SECONDS = 900;

type Parent = Pick<JobSpec, 'queue' | 'traceparent'>;

/** Strings that PostgreSQL could not store once they are decoded: `JSON.stringify` writes them as escapes, and no others. */
const UNSTORABLE = /(?:^|[^\\])(?:\\\\)*\\u(?:0000|d[89a-f])/;

const NAME = 'lower-case letters and digits, joined by ".", "_" or "-"';

/**
 * What the engine submits for a job that a handler hands in, under the rules of the api.
 *
 * @param id of the new job.
 * @param parent the job that hands it in: its queue is the default, and its trace goes on.
 * @throws TypeError that names everything that is wrong.
 */
export function toSubmission(job: NewJob, id: string, parent: Parent): Submission {
  const faults = faultsOf(job);
  if (faults.length > 0) throw new TypeError(`The job cannot be handed in: ${faults.join('; ')}`);
  return { job: toSpec(job, id, parent), transition: admit(id, dueOf(job)), fingerprint: null };
}

function toSpec(job: NewJob, id: string, parent: Parent): JobSpec {
  return {
    id,
    type: job.type,
    queue: job.queue ?? parent.queue,
    payload: payloadText(job.payload),
    maxAttempts: job.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    retry: job.retry === undefined ? DEFAULT_RETRY : toRetryPolicy(job.retry),
    timeoutMs: (job.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1_000,
    tags: job.tags ?? [],
    idempotencyKey: null,
    traceparent: parent.traceparent,
  };
}

function payloadText(payload: unknown): string {
  const text = jsonText('The payload', payload === undefined ? {} : payload, JOB_RULES.payloadMaxBytes);
  if (UNSTORABLE.test(text)) throw new TypeError('The payload holds a NUL or a lone surrogate, which cannot be stored');
  if (depthOf(text) > JOB_RULES.payloadMaxDepth) {
    throw new TypeError(`The payload is nested deeper than ${JOB_RULES.payloadMaxDepth} levels`);
  }
  return text;
}

/** The database decides what is past. */
function dueOf({ runAt, delaySeconds = 0 }: NewJob): Due {
  if (runAt !== undefined) return { kind: 'at', at: runAt };
  return delaySeconds === 0 ? NOW : { kind: 'after', delayMs: delaySeconds * 1_000 };
}

function faultsOf({ type, queue, runAt, delaySeconds, maxAttempts, retry, timeoutSeconds, tags }: NewJob): string[] {
  const { typeMaxLength, queueMaxLength, aheadMaxSeconds, maxAttemptsMax, timeoutMaxSeconds } = JOB_RULES;
  return [
    isName(type, typeMaxLength) ? [] : `a type is ${NAME}`,
    queue === undefined || isName(queue, queueMaxLength) ? [] : `a queue is ${NAME}`,
    runAt === undefined || Number.isFinite(runAt.getTime()) ? [] : 'runAt is no date',
    runAt === undefined || delaySeconds === undefined ? [] : 'runAt and delaySeconds exclude each other',
    number('delaySeconds', delaySeconds, 0, aheadMaxSeconds),
    number('maxAttempts', maxAttempts, 1, maxAttemptsMax),
    number('timeoutSeconds', timeoutSeconds, 1, timeoutMaxSeconds),
    retry === undefined ? [] : retryFaults(retry),
    tags === undefined ? [] : tagFaults(tags),
  ].flat();
}

function retryFaults(retry: NonNullable<NewJob['retry']>): string[] {
  const { retryMaxSeconds, retryFactorMax } = JOB_RULES;
  if (!['none', 'fixed', 'exponential'].includes(retry.kind)) return ['retry.kind is none, fixed or exponential'];
  if (retry.kind === 'none') return [];
  const base = number('retry.baseSeconds', retry.baseSeconds, 0, retryMaxSeconds);
  if (retry.kind === 'fixed') return base;
  const { baseSeconds = DEFAULT_RETRY.baseMs / 1_000, factor = DEFAULT_RETRY.factor, maxSeconds } = retry;
  const isFactor = factor >= 1 && factor <= retryFactorMax;
  return [
    base,
    number('retry.maxSeconds', maxSeconds, baseSeconds, retryMaxSeconds),
    isFactor ? [] : `retry.factor is a number from 1 to ${retryFactorMax}`,
    ['full', 'equal', 'none', undefined].includes(retry.jitter) ? [] : 'retry.jitter is full, equal or none',
  ].flat();
}

function tagFaults(tags: readonly string[]): string[] {
  const { tagsMax, tagMaxLength } = JOB_RULES;
  const isTag = (tag: string): boolean => {
    const { length } = Array.from(tag);
    return length >= 1 && length <= tagMaxLength && !tag.includes('\0') && tag.isWellFormed();
  };
  return [
    tags.length <= tagsMax ? [] : `there are at most ${tagsMax} tags`,
    tags.every(isTag) ? [] : `a tag has 1 to ${tagMaxLength} characters that can be stored`,
  ].flat();
}

function isName(text: string, maxLength: number): boolean {
  return text.length <= maxLength && JOB_TYPE.test(text);
}

function number(name: string, value: number | undefined, min: number, max: number): string[] {
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return [];
  return [`${name} is a whole number from ${min} to ${max}`];
}

/** How deep the arrays and objects of a JSON text stand in each other. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (part === '[' || part === '{') deepest = Math.max(deepest, (depth += 1));
    else if (part === ']' || part === '}') depth -= 1;
  }
  return deepest;
}
