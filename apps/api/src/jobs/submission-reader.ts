import { admit, NOW, toRetryPolicy } from '@deadman/domain';
import type { Clock, Due, Ids, JobSpec, RetryPolicy, Submission } from '@deadman/domain';
import { bad, faultsOf, good } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { memberOf } from '../http/check-schema.js';
import { parseInstant } from '../http/instant.js';
import { isObjectAt, membersOf } from '../json/json-text.js';
import type { Member } from '../json/json-text.js';
import { pointTo } from '../json/json-pointer.js';
import { fault } from '../problems/fault.js';
import type { Fault } from '../problems/fault.js';
import type { CreateBatchJob } from './create-job.dto.js';
import { fingerprintOf } from './fingerprint.js';
import { JOB_RULES } from './job-rules.js';
import { payloadFaults } from './payload-faults.js';

/** What a submit takes when it does not say otherwise. */
export interface JobDefaults {
  readonly queue: string;
  readonly maxAttempts: number;
  readonly retry: RetryPolicy;
  /** Milliseconds. */
  readonly timeoutMs: number;
}

export interface SubmissionReaderDeps {
  readonly ids: Ids;
  readonly clock: Clock;
  readonly queues: readonly string[];
  readonly defaults: JobDefaults;
}

/** A job as it stands in a request. */
export interface JobRequest {
  /** The request's body. */
  readonly text: string;
  /** Where in the text the job's value begins. */
  readonly start: number;
  /** Where in the body the job is: a JSON Pointer. */
  readonly pointer: string;
  /** The job's value, whether or not it is of the right form. */
  readonly value: unknown;
  /** The job's value by its schema. */
  readonly checked: Checked<CreateBatchJob>;
  /** The key that the job is to have. */
  readonly key: Checked<string | null>;
  /** W3C trace context of the request, null when there is none. */
  readonly traceparent: string | null;
}

/** Turns a job of a request into what the engine submits, or says all that is wrong with it. */
export class SubmissionReader {
  readonly #deps: SubmissionReaderDeps;

  constructor(deps: SubmissionReaderDeps) {
    this.#deps = deps;
  }

  read(request: JobRequest): Checked<Submission> {
    const { text, start, pointer, checked, key } = request;
    const members = isObjectAt(text, start) ? membersOf(text, start) : [];
    const payload = members.findLast(({ name }) => name === 'payload');
    const payloadText = payload === undefined ? '{}' : text.slice(payload.start, payload.end);
    const faults = [
      ...faultsOf(checked, key),
      ...repeatedMembers(text, members, pointer),
      ...conflicts(request),
      ...this.#farAhead(request),
      ...this.#unknownQueue(request),
      ...payloadFaults(payloadText, pointTo(pointer, 'payload')),
    ];
    if (faults.length > 0 || !checked.ok || !key.ok) return bad(faults);
    const spec = this.#specOf(checked.value, payloadText, key.value, request.traceparent);
    return good({
      job: spec,
      transition: admit(spec.id, dueOf(checked.value)),
      fingerprint: key.value === null ? null : fingerprintOf(text, members),
    });
  }

  #specOf(job: CreateBatchJob, payload: string, key: string | null, traceparent: string | null): JobSpec {
    const { defaults, ids } = this.#deps;
    return {
      id: ids.timeOrdered(),
      type: job.type,
      queue: job.queue ?? defaults.queue,
      payload,
      maxAttempts: job.maxAttempts ?? defaults.maxAttempts,
      retry: job.retry === undefined ? defaults.retry : toRetryPolicy(job.retry),
      timeoutMs: job.timeoutSeconds === undefined ? defaults.timeoutMs : job.timeoutSeconds * 1_000,
      tags: job.tags ?? [],
      idempotencyKey: key,
      traceparent,
    };
  }

  #unknownQueue({ value, pointer }: JobRequest): readonly Fault[] {
    const queue = memberValue(value, 'queue');
    const { queues } = this.#deps;
    if (typeof queue !== 'string' || queues.includes(queue)) return [];
    return [fault('unknown-queue', memberOf(pointer, 'queue'), `The declared queues are: ${queues.join(', ')}.`)];
  }

  /** Judged by the api's clock, which decides nothing else: ten years need no better one. */
  #farAhead({ value, pointer }: JobRequest): readonly Fault[] {
    const given = memberValue(value, 'runAt');
    const runAt = typeof given === 'string' ? parseInstant(given) : null;
    if (runAt === null) return [];
    const latestMs = this.#deps.clock.now().getTime() + JOB_RULES.aheadMaxSeconds * 1_000;
    if (runAt.getTime() <= latestMs) return [];
    return [fault('out-of-range', memberOf(pointer, 'runAt'), 'A job is due at most 10 years ahead.')];
  }
}

/** The schema sees the last of repeated members and cannot tell; a request that says two things is refused. */
function repeatedMembers(text: string, members: readonly Member[], pointer: string): readonly Fault[] {
  const retry = members.findLast(({ name }) => name === 'retry');
  const inner = retry !== undefined && isObjectAt(text, retry.start) ? membersOf(text, retry.start) : [];
  return [...repeated(members, pointer), ...repeated(inner, pointTo(pointer, 'retry'))];
}

export function repeated(members: readonly Member[], pointer: string): readonly Fault[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { name } of members) (seen.has(name) ? twice : seen).add(name);
  return [...twice].map((name) => fault('duplicate-member', memberOf(pointer, name)));
}

function conflicts({ value, pointer }: JobRequest): readonly Fault[] {
  const isBoth = memberValue(value, 'runAt') !== undefined && memberValue(value, 'delaySeconds') !== undefined;
  return isBoth
    ? [fault('conflicting-members', memberOf(pointer, 'delaySeconds'), 'Give runAt or delaySeconds, not both.')]
    : [];
}

function memberValue(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** The database decides what is past: an instant is handed on as it is. */
function dueOf({ runAt, delaySeconds }: CreateBatchJob): Due {
  if (runAt !== undefined) return { kind: 'at', at: runAt };
  return delaySeconds === undefined || delaySeconds === 0 ? NOW : { kind: 'after', delayMs: delaySeconds * 1_000 };
}
