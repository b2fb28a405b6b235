import { depthOf } from '../json/json-text.js';
import { findUnstorable } from '../json/unstorable-text.js';
import { fault } from '../problems/fault.js';
import type { Fault } from '../problems/fault.js';
import { JOB_RULES } from './job-rules.js';

/** Why a payload, given as the text that was received, cannot be stored. */
export function payloadFaults(text: string, pointer: string): readonly Fault[] {
  if (isLongerThan(text, JOB_RULES.payloadMaxBytes)) {
    const detail = `A payload has at most ${JOB_RULES.payloadMaxBytes} bytes of text.`;
    return [fault('payload-too-large', { pointer }, detail)];
  }
  // Each level takes two characters, so that a short text needs no walk. The texts of a payload that is too deep are not
  // looked at: the walk would be as deep.
  if (text.length > 2 * JOB_RULES.payloadMaxDepth && depthOf(text) > JOB_RULES.payloadMaxDepth) {
    return [fault('payload-too-deep', { pointer })];
  }
  return findUnstorable(text, pointer).map((found) => fault(found.reason, { pointer: found.pointer }));
}

/** A UTF-16 unit takes one to three bytes of UTF-8. */
function isLongerThan(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes);
}
