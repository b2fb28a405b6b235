import type { Submission } from '@deadman/domain';
import { good } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { checkSchema, memberOf } from '../http/check-schema.js';
import type { JsonBody } from '../json/json-body.js';
import { elementsOf, isObjectAt, membersOf, skipSpace } from '../json/json-text.js';
import type { Member } from '../json/json-text.js';
import type { Fault } from '../problems/fault.js';
import { CreateBatchJob } from './create-job.dto.js';
import { readKey } from './idempotency-key.js';
import { repeated } from './submission-reader.js';
import type { SubmissionReader } from './submission-reader.js';

/** Reads the jobs of a batch, in order, each by itself, whatever else is wrong with the batch. */
export function readBatch(
  body: JsonBody,
  reader: SubmissionReader,
  traceparent: string | null,
): readonly Checked<Submission>[] {
  const { text } = body;
  const values = (body.value as { jobs?: unknown } | null | undefined)?.jobs;
  const jobs = batchMembers(text).findLast(({ name }) => name === 'jobs');
  if (jobs === undefined || !Array.isArray(values)) return [];
  return elementsOf(text, jobs.start).map((start, index) => {
    const pointer = `/jobs/${index}`;
    const value: unknown = values[index];
    const checked = checkSchema(CreateBatchJob, value, { in: 'body', pointer });
    return reader.read({ text, start, pointer, value, checked, key: keyOf(value, pointer), traceparent });
  });
}

/** Members that the batch itself says twice. */
export function batchFaults({ text }: JsonBody): readonly Fault[] {
  return repeated(batchMembers(text), '');
}

function batchMembers(text: string): readonly Member[] {
  const start = skipSpace(text, 0);
  return isObjectAt(text, start) ? membersOf(text, start) : [];
}

/** A key that is no string is the schema's to tell. */
function keyOf(value: unknown, pointer: string): Checked<string | null> {
  const key = (value as { idempotencyKey?: unknown } | null)?.idempotencyKey;
  return typeof key === 'string' ? readKey(key, memberOf(pointer, 'idempotencyKey')) : good(null);
}
