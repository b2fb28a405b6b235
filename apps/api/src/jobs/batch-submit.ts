import { isDeadmanError } from '@deadman/domain';
import type { Submission } from '@deadman/domain';
import type { Submitter } from '@deadman/engine';
import type { Checked } from '../http/checked.js';
import { Problem } from '../problems/problem.js';
import { toProblem } from '../problems/to-problem.js';
import type { BatchItem } from './batch-json.js';
import { keyReused } from './submit-answers.js';
import type { SubmitAnswers, SubmitOutcome } from './submit-answers.js';

/** Submits the jobs of a batch together or each on its own. */
export class BatchSubmit {
  readonly #submitter: Submitter;
  readonly #answers: SubmitAnswers;

  constructor(submitter: Submitter, answers: SubmitAnswers) {
    this.#submitter = submitter;
    this.#answers = answers;
  }

  /** All or none. Jobs are looked up one after the other, so that a batch of old keys does not take every connection. */
  async atomic(submissions: readonly Submission[]): Promise<readonly SubmitOutcome[]> {
    const submitted = await this.#submitter.submitAtomic(submissions);
    const outcomes: SubmitOutcome[] = [];
    for (const [index, submission] of submissions.entries()) {
      const result = submitted[index];
      if (result === undefined) throw new TypeError('A submit answered fewer jobs than it was given');
      outcomes.push(await this.#answers.outcomeOf(submission, result));
    }
    return outcomes;
  }

  /** Each on its own: one that is refused, by the api or by the database, says so in its place. */
  partial(jobs: readonly Checked<Submission>[], isStrict: boolean): Promise<readonly BatchItem[]> {
    return Promise.all(jobs.map((job, index) => this.#one(job, `/jobs/${index}`, isStrict)));
  }

  async #one(job: Checked<Submission>, pointer: string, isStrict: boolean): Promise<BatchItem> {
    if (!job.ok) return { problem: Problem.of(job.faults) };
    const { value: submission } = job;
    try {
      const outcome = await this.#answers.outcomeOf(submission, await this.#submitter.submit(submission));
      const isReused = isStrict && outcome.mismatch.length > 0;
      return isReused ? { problem: keyReused(outcome.mismatch, pointer) } : outcome;
    } catch (error) {
      if (isDeadmanError(error)) return { problem: toProblem(error, 'POST') };
      throw error;
    }
  }
}
