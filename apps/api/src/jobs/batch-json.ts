import type { Problem } from '../problems/problem.js';
import { jobJson } from './job-json.js';
import type { SubmitOutcome } from './submit-answers.js';

/** What became of one job of a batch. */
export type BatchItem = SubmitOutcome | { readonly problem: Problem };

/** The JSON text of a batch's answer, in the order of the request. */
export function batchJson(items: readonly BatchItem[], requestId: string): string {
  return `{"items":[${items.map((item, index) => itemJson(item, index, requestId)).join()}]}`;
}

function itemJson(item: BatchItem, index: number, requestId: string): string {
  if ('problem' in item) {
    const { problem } = item;
    return `{"index":${index},"status":${problem.status},"problem":${problem.body(requestId)},"replayed":false,"mismatch":[]}`;
  }
  const { status, job, warnings, replayed, mismatch } = item;
  return (
    `{"index":${index},"status":${status},"job":${jobJson(job, warnings)}` +
    `,"replayed":${replayed},"mismatch":${JSON.stringify(mismatch)}}`
  );
}
