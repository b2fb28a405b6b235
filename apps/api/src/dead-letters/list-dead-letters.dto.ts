import type { DeadLetterQuery } from '@deadman/domain';
import { z } from 'zod';
import { Queues, readName, Types } from '../jobs/list-jobs.dto.js';
import { Cursor, Limit, manyOf, Sort } from '../lists/list-parameters.js';

/** The parameters of `GET /dead-letters`. */
export const ListDeadLetters = z.strictObject({
  type: Types,
  queue: Queues,
  reason: manyOf(readName, 'A reason is a name such as exhausted, non-retryable or crash-loop', { split: true }).meta({
    anyOf: undefined,
    type: 'array',
    items: { type: 'string' },
    description: 'Reasons, such as `exhausted`, `non-retryable`, `crash-loop`, `snooze-limit`.',
  }),
  sort: Sort,
  limit: Limit,
  cursor: Cursor,
});

export type ListDeadLetters = z.infer<typeof ListDeadLetters>;

export function deadLetterFilterOf({
  type,
  queue,
  reason,
}: ListDeadLetters): Pick<DeadLetterQuery, 'types' | 'queues' | 'reasons'> {
  return { ...(type && { types: type }), ...(queue && { queues: queue }), ...(reason && { reasons: reason }) };
}

/** What the cursor of a list of dead letters is bound to. */
export function listOfDeadLetters({ type, queue, reason, sort }: ListDeadLetters): string {
  return JSON.stringify(['dead-letters', ...[type, queue, reason].map((values) => (values ?? []).toSorted()), sort]);
}
