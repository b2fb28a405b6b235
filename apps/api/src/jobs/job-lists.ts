import type { JobFilter, JobStore } from '@deadman/domain';
import { bad, good, requireAll } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { decodeCursor, encodeCursor, positionCursor, readPosition } from '../lists/cursor.js';
import { listJson } from '../lists/list-json.js';
import { fault } from '../problems/fault.js';
import { attemptJson, jobJson } from './job-json.js';
import { filterOf, listOfJobs } from './list-jobs.dto.js';
import type { ListAttempts, ListJobs } from './list-jobs.dto.js';

/** Where an exact count stops: past it only the fact that there are more is told. */
export const COUNT_AT_MOST = 10_000;

/** Pages of jobs and of attempts, as JSON texts. */
export class JobLists {
  readonly #store: JobStore;

  constructor(store: JobStore) {
    this.#store = store;
  }

  /** @throws Problem for a cursor that is not this list's. */
  async jobs(query: ListJobs): Promise<string> {
    const list = listOfJobs(query);
    const filter = filterOf(query);
    const [after] = requireAll(query.cursor === undefined ? good(undefined) : readPosition(query.cursor, list));
    const [page, count] = await Promise.all([
      this.#store.listJobs({
        ...filter,
        order: query.sort === 'createdAt' ? 'oldest-first' : 'newest-first',
        limit: query.limit,
        ...(after && { after }),
      }),
      query.count === 'exact' ? this.#count(filter) : null,
    ]);
    return listJson({
      items: page.items.map((job) => jobJson(job)),
      nextCursor: page.next === null ? null : positionCursor(page.next, list),
      limit: query.limit,
      count,
    });
  }

  /** Null when there is no such job. @throws Problem for a cursor of another job. */
  async attempts(jobId: string, { limit, cursor }: ListAttempts): Promise<string | null> {
    const list = JSON.stringify(['attempts', jobId]);
    const [after] = requireAll(cursor === undefined ? good(0) : readAttempt(cursor, list));
    const found = await this.#store.listAttempts(jobId, { after, limit: limit + 1 });
    if (found.length === 0 && (await this.#store.findJob(jobId)) === null) return null;
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return listJson({
      items: page.map(attemptJson),
      nextCursor: found.length > limit && last ? encodeCursor([last.attempt], list) : null,
      limit,
    });
  }

  /** One more than is told, to know whether there are more. */
  async #count(filter: JobFilter): Promise<{ count: number; atLeast: boolean }> {
    const counted = await this.#store.countJobs(filter, COUNT_AT_MOST + 1);
    return { count: Math.min(counted, COUNT_AT_MOST), atLeast: counted > COUNT_AT_MOST };
  }
}

function readAttempt(cursor: string, list: string): Checked<number> {
  const parts = decodeCursor(cursor, list);
  if (!parts.ok) return parts;
  const [attempt = ''] = parts.value;
  return /^\d{1,9}$/.test(attempt) && parts.value.length === 1
    ? good(Number(attempt))
    : bad([fault('malformed-cursor', { parameter: 'cursor' })]);
}
