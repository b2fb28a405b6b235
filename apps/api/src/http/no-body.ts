import { JsonBody } from '../json/json-body.js';
import { fault } from '../problems/fault.js';
import { bad, good } from './checked.js';
import type { Checked } from './checked.js';

/** For requests that take no body. An empty one and `{}` pass, because many clients always send one of them. */
export function checkNoBody(body: unknown): Checked<null> {
  if (!(body instanceof JsonBody) || body.fault?.code === 'missing-body') return good(null);
  if (body.fault !== null) return bad([body.fault]);
  const { value } = body;
  const isEmpty =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
  return isEmpty ? good(null) : bad([fault('unexpected-body', { pointer: '' })]);
}
