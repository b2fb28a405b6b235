import { JOB_STATES, unstorableReason } from '@deadman/domain';
import type { JobFilter, JobState } from '@deadman/domain';
import { z } from 'zod';
import { Cursor, Instant, Limit, manyOf, Sort } from '../lists/list-parameters.js';
import { JOB_RULES, JOB_TYPE } from './job-rules.js';

const WIRE_STATES = JOB_STATES.map((state) => state.toLowerCase());

function readState(text: string): JobState | null {
  return JOB_STATES.find((state) => state === text.toUpperCase()) ?? null;
}

export function readName(text: string): string | null {
  return text.length <= JOB_RULES.typeMaxLength && JOB_TYPE.test(text) ? text : null;
}

function readTag(text: string): string | null {
  return text.length > 0 && text.length <= 2 * JOB_RULES.tagMaxLength && unstorableReason(text) === null ? text : null;
}

const NAME_COMPLAINT = "A name is lower-case letters and digits, joined by '.', '_' or '-'";

/** How a parameter that may come several times is described: an array of these. */
const several = (items: object, description: string): Record<string, unknown> => ({
  anyOf: undefined,
  type: 'array',
  items,
  description,
});

export const Types = manyOf(readName, NAME_COMPLAINT, { split: true }).meta(
  several({ type: 'string' }, 'Types; may stand there several times or be separated by commas.'),
);

export const Queues = manyOf(readName, NAME_COMPLAINT, { split: true }).meta(
  several({ type: 'string' }, 'Queues; may stand there several times or be separated by commas.'),
);

/** The parameters of `GET /jobs`. The same name means OR, different names mean AND. */
export const ListJobs = z.strictObject({
  state: manyOf(readState, `A state is one of ${WIRE_STATES.join(', ')}`, { split: true }).meta(
    several(
      { type: 'string', enum: WIRE_STATES },
      'States, in any case; may stand there several times or be separated by commas.',
    ),
  ),
  type: Types,
  queue: Queues,
  tag: manyOf(readTag, `A tag has 1 to ${JOB_RULES.tagMaxLength} characters`, { split: false }).meta(
    several({ type: 'string' }, 'Tags; may stand there several times.'),
  ),
  createdAfter: Instant,
  createdBefore: Instant,
  sort: Sort,
  limit: Limit,
  cursor: Cursor,
  count: z.enum(['exact']).optional().meta({
    description: 'Adds `count` and `atLeast`. Counting stops at 10,000, and `atLeast` is then true.',
  }),
});

export type ListJobs = z.infer<typeof ListJobs>;

export function filterOf(query: ListJobs): JobFilter {
  const { state, type, queue, tag, createdAfter, createdBefore } = query;
  return {
    ...(state && { states: state }),
    ...(type && { types: type }),
    ...(queue && { queues: queue }),
    ...(tag && { tags: tag }),
    ...(createdAfter && { createdAfter }),
    ...(createdBefore && { createdBefore }),
  };
}

/** What the cursor of a list of jobs is bound to. Values are sorted: their order says nothing. */
export function listOfJobs(query: ListJobs): string {
  const sorted = (values: readonly string[] | undefined): readonly string[] => (values ?? []).toSorted();
  const { state, type, queue, tag, createdAfter, createdBefore, sort } = query;
  return JSON.stringify(['jobs', ...[state, type, queue, tag].map(sorted), createdAfter, createdBefore, sort]);
}

/** The parameters of `GET /jobs/{id}/attempts`, which come oldest first. */
export const ListAttempts = z.strictObject({ limit: Limit, cursor: Cursor });

export type ListAttempts = z.infer<typeof ListAttempts>;
