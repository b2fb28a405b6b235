import { setTimeout as sleep } from 'node:timers/promises';

/** An answer that was no success. */
export interface Refusal {
  readonly status: number;
  readonly code: string | null;
  readonly retryable: boolean | null;
  readonly retryAfter: string | null;
}

export interface JobRequest {
  readonly type: string;
  readonly payload: unknown;
  readonly idempotencyKey: string;
  readonly [option: string]: unknown;
}

type Headers = Readonly<Record<string, string>>;

interface BatchAnswer {
  readonly items: readonly { readonly job: { readonly id: string } }[];
}

interface Problem {
  readonly code?: string;
  readonly retryable?: boolean;
}

/** Pause before a request is repeated whose answer says nothing of when. Milliseconds; a guess. */
const PAUSE_MS = 200;

/** Longest wait for an answer. Milliseconds. */
const ANSWER_WITHIN_MS = 30_000;

/**
 * Hands jobs in as a careful client does: with a key of its own for each, and again and again until it is told that they
 * were accepted. Whoever dies in the middle, a job is accepted once.
 */
export class Client {
  /** Everything that was refused meanwhile, for the check that refusals say what to do. */
  readonly refusals: Refusal[] = [];
  /** Requests that got no answer at all. */
  unanswered = 0;
  readonly #urls: () => readonly string[];
  #turn = 0;

  /** @param urls of the apis that run now; asked before each request. */
  constructor(urls: () => readonly string[]) {
    this.#urls = urls;
  }

  /** Resolves with the ids once all are accepted; with null when `signal` aborts before. */
  async submit(jobs: readonly JobRequest[], signal: AbortSignal): Promise<readonly string[] | null> {
    while (!signal.aborted) {
      const answer = await this.send('POST', '/jobs/batch', { jobs });
      if (answer?.ok === true) return ((await answer.json()) as BatchAnswer).items.map(({ job }) => job.id);
      await sleep(await this.#pauseAfter(answer), undefined, { signal }).catch(() => undefined);
    }
    return null;
  }

  /** Hands a batch in once, whatever the answer. Null when it was not accepted. */
  async submitOnce(jobs: readonly JobRequest[]): Promise<readonly string[] | null> {
    const answer = await this.send('POST', '/jobs/batch', { jobs });
    if (answer?.ok === true) return ((await answer.json()) as BatchAnswer).items.map(({ job }) => job.id);
    if (answer !== null) await this.#pauseAfter(answer);
    return null;
  }

  /** One request to any of the apis. Null when nobody answered. */
  async send(method: 'POST' | 'DELETE', path: string, body?: unknown, more: Headers = {}): Promise<Response | null> {
    const urls = this.#urls();
    const url = urls[this.#turn++ % urls.length];
    const headers = body === undefined ? more : { 'content-type': 'application/json', ...more };
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const text = body === undefined ? null : JSON.stringify(body);
    try {
      return await fetch(`${url}${path}`, { method, headers, body: text, signal });
    } catch {
      this.unanswered += 1;
      return null;
    }
  }

  async #pauseAfter(answer: Response | null): Promise<number> {
    if (answer === null) return PAUSE_MS;
    const { code = null, retryable = null } = (await answer.json().catch(() => ({}))) as Problem;
    const retryAfter = answer.headers.get('retry-after');
    this.refusals.push({ status: answer.status, code, retryable, retryAfter });
    return retryAfter === null ? PAUSE_MS : Number(retryAfter) * 1_000;
  }
}
