import { JOB_STATES } from '@deadman/domain';
import type { JobFilter, JobQuery, Position } from '@deadman/domain';
import { toArrayLiteral, toTimestamp } from './array-literal.js';
import type { Values } from './postgres-database.js';

const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A place in the order of creation as SQL takes it: an instant and an id. */
type Place = readonly [at: string, id: string];

export const BEFORE_ALL: Place = ['-infinity', LOWEST_ID];
export const AFTER_ALL: Place = ['infinity', HIGHEST_ID];

/** The table that leads to the jobs: the one that leaves the least to be passed over. */
export type Driver = 'tag' | 'type' | 'queue';

export function driverOf({ tags, types }: JobFilter): Driver {
  if (tags !== undefined) return 'tag';
  return types === undefined ? 'queue' : 'type';
}

/** The states a filter asks for, and the two places between which all that it asks for lies, as parameters of a list. */
export function toRange(query: JobFilter & Partial<Pick<JobQuery, 'order' | 'after'>>): Values {
  const { order, after, createdAfter, createdBefore } = query;
  const from = createdAfter && { createdAt: createdAfter, id: HIGHEST_ID };
  const to = createdBefore && { createdAt: createdBefore, id: LOWEST_ID };
  const lower = order === 'oldest-first' ? later(from, after) : from;
  const upper = order === 'newest-first' ? earlier(to, after) : to;
  return [
    toArrayLiteral(distinct(query.states ?? JOB_STATES)),
    ...(lower ? toPlace(lower) : BEFORE_ALL),
    ...(upper ? toPlace(upper) : AFTER_ALL),
  ];
}

/** The names that a filter asks for, those of the driver first. */
export function toNames(driver: Driver, { tags, types, queues }: JobFilter): Values {
  const names = { tag: [tags, types, queues], type: [types, queues], queue: [queues] }[driver];
  return names.map((list) => (list === undefined ? null : toArrayLiteral(distinct(list))));
}

export function toPlace({ createdAt, id }: Position): Place {
  return [toTimestamp(createdAt), id];
}

function distinct<T>(list: readonly T[]): T[] {
  return [...new Set(list)];
}

function later(a: Position | undefined, b: Position | undefined): Position | undefined {
  return a && b ? (isBefore(a, b) ? b : a) : (a ?? b);
}

function earlier(a: Position | undefined, b: Position | undefined): Position | undefined {
  return a && b ? (isBefore(a, b) ? a : b) : (a ?? b);
}

function isBefore(a: Position, b: Position): boolean {
  const difference = a.createdAt.getTime() - b.createdAt.getTime();
  return difference < 0 || (difference === 0 && a.id < b.id);
}
