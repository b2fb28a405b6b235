import { duplicateRuns } from '@deadman/engine';
import { eventually } from '@deadman/testing';
import type { AttemptRecord } from '@deadman/domain';

/** A job as the API shows it; what these tests look at. */
export interface WireJob {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
  readonly failures: number;
  readonly lapses: number;
  readonly result: unknown;
  readonly progress: unknown;
  readonly lastError: { readonly name: string; readonly code: string | null; readonly message: string } | null;
}

export interface WireAttempt {
  readonly attempt: number;
  readonly outcome: string;
  readonly startedAt: string | null;
  readonly reclaimedBy: string | null;
  readonly reason: string | null;
}

/** Drives jobs over HTTP as any client would. Those of one client go to a queue of their own, so that it can count them. */
export class JobClient {
  readonly #url: string;
  readonly #queue: string;

  constructor(url: string, queue: string) {
    this.#url = url;
    this.#queue = queue;
  }

  async submit(type: string, payload: unknown, more: object = {}): Promise<WireJob> {
    return (await this.#post('/jobs', { type, payload, queue: this.#queue, ...more })) as WireJob;
  }

  /** Hands in `count` jobs in one transaction and returns their ids: what the client was told, not what a database says. */
  async submitMany(
    count: number,
    type: string,
    payloadOf: (index: number) => unknown,
    more: object = {},
  ): Promise<readonly string[]> {
    const jobs = Array.from({ length: count }, (_, index) => ({
      type,
      payload: payloadOf(index),
      queue: this.#queue,
      ...more,
    }));
    const { items } = (await this.#post('/jobs/batch', { jobs })) as { items: readonly { job: WireJob }[] };
    return items.map(({ job }) => job.id);
  }

  async find(id: string): Promise<WireJob> {
    return (await this.#get(`/jobs/${id}`)) as WireJob;
  }

  async attempts(id: string): Promise<readonly WireAttempt[]> {
    return ((await this.#get(`/jobs/${id}/attempts`)) as { items: readonly WireAttempt[] }).items;
  }

  async cancel(id: string): Promise<void> {
    await read(await fetch(`${this.#url}/jobs/${id}`, { method: 'DELETE' }));
  }

  /** How many jobs of the queue are in each state. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    return ((await this.#get(`/queues/${this.#queue}`)) as { counts: Readonly<Record<string, number>> }).counts;
  }

  async untilEnded(id: string, withinMs = 30_000): Promise<WireJob> {
    return eventually(
      async () => {
        const job = await this.find(id);
        if (!['succeeded', 'dead', 'cancelled'].includes(job.state)) throw new Error(`It is still ${job.state}`);
        return job;
      },
      { withinMs, everyMs: 50 },
    );
  }

  /** Waits until `check` holds of the counts. Asks on while nobody answers: the service may just have been killed. */
  async untilCounts(check: (counts: Readonly<Record<string, number>>) => boolean, withinMs = 60_000): Promise<void> {
    await eventually(
      async () => {
        const counts = await this.counts();
        if (!check(counts)) throw new Error(`The counts are ${JSON.stringify(counts)}`);
      },
      { withinMs, everyMs: 50 },
    );
  }

  async #get(path: string): Promise<unknown> {
    return read(await fetch(this.#url + path));
  }

  async #post(path: string, body: unknown): Promise<unknown> {
    const headers = { 'content-type': 'application/json' };
    return read(await fetch(this.#url + path, { method: 'POST', headers, body: JSON.stringify(body) }));
  }
}

/** How a set of jobs came through, by what the API tells of each attempt. */
export interface Judgement {
  /** Accepted ids that are not SUCCEEDED. */
  readonly lost: number;
  /** Jobs with more than one attempt that succeeded. */
  readonly doubled: number;
  readonly lapses: number;
  readonly duplicateRuns: number;
}

export async function judge(client: JobClient, ids: readonly string[]): Promise<Judgement> {
  let [lost, doubled, lapses, duplicates] = [0, 0, 0, 0];
  for (const id of ids) {
    const [job, attempts] = [await client.find(id), await client.attempts(id)];
    if (job.state !== 'succeeded') lost += 1;
    if (attempts.filter(({ outcome }) => outcome === 'succeeded').length !== 1) doubled += 1;
    lapses += attempts.filter(({ outcome }) => outcome === 'lapsed').length;
    duplicates += duplicateRuns(attempts as unknown as readonly AttemptRecord[]);
  }
  return { lost, doubled, lapses, duplicateRuns: duplicates };
}

async function read(answer: Response): Promise<unknown> {
  const body: unknown = await answer.json();
  if (!answer.ok) throw new Error(`HTTP ${answer.status}: ${JSON.stringify(body)}`);
  return body;
}
