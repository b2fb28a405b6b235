import { isTerminal } from '@deadman/domain';
import type { Job } from '@deadman/domain';

/** What a client was promised about a cancel: from here on the job does not run again. */
export interface CancelPromise {
  readonly attempt: number;
  readonly answer: 'cancelled' | 'asked' | 'finished';
}

/** What clients were told and what they asked for, against which everything is judged. */
export class Promises {
  /** Ids that a client was told are stored. */
  readonly accepted = new Set<string>();
  readonly cancels = new Map<string, CancelPromise>();
  readonly #asked = new Map<string, number>();
  readonly #answered = new Map<string, number>();

  /** A person asks for a retry. Whatever was promised before is over. */
  askRetry(jobId: string): void {
    this.#asked.set(jobId, this.retriesOf(jobId) + 1);
    this.cancels.delete(jobId);
  }

  answerRetry(jobId: string): void {
    this.#answered.set(jobId, (this.#answered.get(jobId) ?? 0) + 1);
  }

  /** How often a person asked. Each may lead out of an ended state once. */
  retriesOf(jobId: string): number {
    return this.#asked.get(jobId) ?? 0;
  }

  /** Whether some retry was asked for and has not been answered. */
  hasOpenRetries(jobId: string): boolean {
    return this.retriesOf(jobId) > (this.#answered.get(jobId) ?? 0);
  }

  /** Nobody can be held to what a failover lost. */
  forgetWhatIsLost(jobs: ReadonlyMap<string, Job>): void {
    for (const id of this.accepted) if (!jobs.has(id)) this.accepted.delete(id);
    for (const [id, promise] of this.cancels) if (!isRemembered(jobs.get(id), promise)) this.cancels.delete(id);
  }
}

/** Whether the row still shows what the answer was based on. */
function isRemembered(job: Job | undefined, { answer, attempt }: CancelPromise): boolean {
  if (job === undefined || job.attempt !== attempt) return false;
  switch (answer) {
    case 'asked':
      return job.cancelRequestedAt !== null;
    case 'cancelled':
      return job.state === 'CANCELLED';
    case 'finished':
      return isTerminal(job.state);
  }
}
