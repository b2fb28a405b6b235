import { setTimeout as sleep } from 'node:timers/promises';

/** A request that was not accepted, and what the client was told. */
export interface Refusal {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly retryable: unknown;
}

/** What a load hands in, and how often. */
export interface SteadyLoadOptions {
  readonly url: string;
  readonly queue: string;
  readonly type: string;
  readonly payload: unknown;
  /** Milliseconds. */
  readonly everyMs: number;
}

/**
 * A client that goes on handing in jobs at its own pace, whoever is slow or down, and writes down what it was told: lost
 * jobs are counted from that and never from the database.
 */
export class SteadyLoad {
  readonly accepted: string[] = [];
  readonly refusals: Refusal[] = [];
  readonly #options: SteadyLoadOptions;
  readonly #open = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  readonly #pace: Promise<void>;
  #failure: unknown = null;

  constructor(options: SteadyLoadOptions) {
    this.#options = options;
    this.#pace = this.#run();
  }

  /** Hands in no more, and waits for the answers. Throws when a request got none. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#pace;
    await Promise.all(this.#open);
    if (this.#failure !== null) throw this.#failure;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const request = this.#submit().catch((error: unknown) => void (this.#failure = error));
      this.#open.add(request);
      void request.then(() => this.#open.delete(request));
      await sleep(this.#options.everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #submit(): Promise<void> {
    const { url, queue, type, payload } = this.#options;
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ type, payload, queue });
    const answer = await fetch(`${url}/jobs`, { method: 'POST', headers, body });
    const said = (await answer.json()) as { id: string; retryable?: unknown };
    if (answer.status === 201) this.accepted.push(said.id);
    else {
      const { status } = answer;
      this.refusals.push({ status, retryAfter: answer.headers.get('retry-after'), retryable: said.retryable });
    }
  }
}
