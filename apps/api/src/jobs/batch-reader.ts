import type { Submission } from '@deadman/domain';
import { good } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { checkSchema, memberOf } from '../http/check-schema.js';
import type { JsonBody } from '../json/json-body.js';
import { elementsOf, isArrayAt, isObjectAt, membersOf, skipSpace } from '../json/json-text.js';
import type { Fault } from '../problems/fault.js';
import { CreateBatchJob } from './create-job.dto.js';
import { readKey } from './idempotency-key.js';
import { repeated } from './submission-reader.js';
import type { SubmissionReader } from './submission-reader.js';

/** Reads the jobs of a batch, in order, each by itself. `values` are the values of its member `jobs`. */
export function readBatch(
  body: JsonBody,
  values: readonly unknown[],
  reader: SubmissionReader,
  traceparent: string | null,
): readonly Checked<Submission>[] {
  const { text } = body;
  const jobs = membersOf(text, skipSpace(text, 0)).findLast(({ name }) => name === 'jobs');
  const spans = jobs !== undefined && isArrayAt(text, jobs.start) ? elementsOf(text, jobs.start) : [];
  return spans.map(({ start }, index) => {
    const pointer = `/jobs/${index}`;
    const value = values[index];
    const checked = checkSchema(CreateBatchJob, value, { in: 'body', pointer });
    return reader.read({ text, start, pointer, value, checked, key: keyOf(value, pointer), traceparent });
  });
}

/** Members that the batch itself says twice. */
export function batchFaults({ text }: JsonBody): readonly Fault[] {
  const start = skipSpace(text, 0);
  return isObjectAt(text, start) ? repeated(membersOf(text, start), '') : [];
}

/** A key that is no string is the schema's to tell. */
function keyOf(value: unknown, pointer: string): Checked<string | null> {
  const key = (value as { idempotencyKey?: unknown } | null)?.idempotencyKey;
  return typeof key === 'string' ? readKey(key, memberOf(pointer, 'idempotencyKey')) : good(null);
}
