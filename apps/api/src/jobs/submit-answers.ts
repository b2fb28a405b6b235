import type { Job, JobStore, Submission, Submitted } from '@deadman/domain';
import type { Answer, Headers } from '../http/answer.js';
import { fault } from '../problems/fault.js';
import { Problem } from '../problems/problem.js';
import { pointTo } from '../json/json-pointer.js';
import { differences } from './fingerprint.js';
import { jobAnswer } from './job-answers.js';
import type { ShownJob } from './job-json.js';
import type { LiveTypes } from './live-types.js';

/** What became of one submission, as the client is told. */
export interface SubmitOutcome {
  readonly status: 200 | 201;
  readonly job: ShownJob;
  readonly warnings: readonly object[];
  readonly replayed: boolean;
  /** Members in which the request differs from the one that the key belongs to. */
  readonly mismatch: readonly string[];
}

/** Says what became of a submission, by the table of idempotency keys in `docs/reference/api.md`. */
export class SubmitAnswers {
  readonly #store: JobStore;
  readonly #liveTypes: LiveTypes;

  constructor(store: JobStore, liveTypes: LiveTypes) {
    this.#store = store;
    this.#liveTypes = liveTypes;
  }

  async outcomeOf(submission: Submission, submitted: Submitted): Promise<SubmitOutcome> {
    const { job } = submitted;
    if (submitted.kind === 'created') {
      return { status: 201, job, warnings: this.#warningsAbout(job), replayed: false, mismatch: [] };
    }
    const mismatch = differences(submission.fingerprint ?? {}, submitted.fingerprint);
    return { status: 200, job: await this.#view(job), warnings: [], replayed: true, mismatch };
  }

  /** @throws Problem `idempotency-key-reused` when the client asked for strict handling and the requests differ. */
  single(
    outcome: SubmitOutcome,
    { hasKey, isStrict }: { readonly hasKey: boolean; readonly isStrict: boolean },
  ): Answer {
    if (!hasKey) return jobAnswer(outcome.status, outcome.job, {}, outcome.warnings);
    const applied: Headers = isStrict ? { 'preference-applied': 'handling=strict' } : {};
    if (isStrict && outcome.mismatch.length > 0) throw keyReused(outcome.mismatch, '', applied);
    const headers: Headers = {
      'idempotent-replayed': String(outcome.replayed),
      ...(outcome.mismatch.length > 0 && { 'idempotency-mismatch': outcome.mismatch.join(', ') }),
      ...applied,
    };
    return jobAnswer(outcome.status, outcome.job, headers, outcome.warnings);
  }

  /** A submit gives the job's row alone; once a worker has had it, progress and the worker's sight belong to it. */
  async #view(job: Job): Promise<ShownJob> {
    return job.attempt === 0 ? job : ((await this.#store.findJob(job.id)) ?? job);
  }

  #warningsAbout({ type }: Job): readonly object[] {
    if (!this.#liveTypes.isUnserved(type)) return [];
    return [
      { code: 'no-live-worker', detail: 'No live worker has a handler for this type. The job waits until one does.' },
    ];
  }
}

/** Nothing was changed: a key that exists makes no job. */
export function keyReused(mismatch: readonly string[], pointer: string, headers: Headers = {}): Problem {
  const faults = mismatch.map((name) => fault('idempotency-key-reused', { pointer: pointTo(pointer, name) }));
  return new Problem('idempotency-key-reused', { faults, headers });
}
