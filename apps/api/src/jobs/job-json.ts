import type { AttemptRecord, Claim, Job, JobView, LastError, RetryPolicy } from '@deadman/domain';
import { errorJson } from './attempt-error-json.js';

/** A job as the store or a submit gives it: a job that was never claimed has neither progress nor a worker. */
export type ShownJob = Job & Partial<Pick<JobView, 'workerSeenAt' | 'progress'>>;

/**
 * The JSON text of a job. Payload, result and progress are spliced in as the texts they are stored as: printing them
 * anew would change big integers, `1.10` and the order of members. What cannot hold a character that JSON escapes (ids,
 * types, queues, instants) is put between quotes as it is; a list of jobs is mostly this function.
 */
export function jobJson(job: ShownJob, warnings: readonly object[] = []): string {
  return (
    `{"id":"${job.id}","type":"${job.type}","queue":"${job.queue}","state":"${job.state.toLowerCase()}"` +
    `,"version":${job.version},"payload":${job.payload},"result":${job.result}` +
    `,"attempt":${job.attempt},"failures":${job.failures},"lapses":${job.lapses},"maxAttempts":${job.maxAttempts}` +
    `,"retry":${retryJson(job.retry)},"timeoutSeconds":${job.timeoutMs / 1_000}` +
    `,"createdAt":${instantJson(job.createdAt)},"scheduledFor":${instantJson(job.scheduledFor)}` +
    `,"startedAt":${instantJson(job.startedAt)},"finishedAt":${instantJson(job.finishedAt)}` +
    `,"lease":${leaseJson(job)},"cancelRequestedAt":${instantJson(job.cancelRequestedAt)}` +
    `,"lastError":${lastErrorJson(job.lastError)},"progress":${job.progress?.value ?? null}` +
    `,"idempotencyKey":${JSON.stringify(job.idempotencyKey)},"tags":${JSON.stringify(job.tags)}` +
    `${warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`}}`
  );
}

/** Rises with each change that a reader can see, apart from the sight of a running job's worker. Weak, because of that. */
export function jobETag(job: ShownJob): string {
  return `W/"${job.version}.${job.progress?.sequence ?? 0}"`;
}

export function attemptJson(attempt: AttemptRecord): string {
  return (
    `{"attempt":${attempt.attempt},"outcome":"${attempt.outcome}","workerId":"${attempt.workerId}"` +
    `,"startedAt":${instantJson(attempt.startedAt)},"finishedAt":${instantJson(attempt.finishedAt)}` +
    `,"error":${errorJson(attempt.error)},"reclaimedBy":${JSON.stringify(attempt.reclaimedBy)}` +
    `,"reason":${JSON.stringify(attempt.reason)}}`
  );
}

/** The latest instant and its text: jobs that were stored together were created, and most are due, at the same. */
let latest = { ms: NaN, json: '' };

export function instantJson(at: Date | null): string {
  if (at === null) return 'null';
  const ms = at.getTime();
  if (ms !== latest.ms) latest = { ms, json: `"${at.toISOString()}"` };
  return latest.json;
}

const retryJsons = new WeakMap<RetryPolicy, string>();

/** Most jobs of a process share the object of the default policy. */
function retryJson(policy: RetryPolicy): string {
  const known = retryJsons.get(policy);
  if (known !== undefined) return known;
  const json = JSON.stringify(toWireRetry(policy));
  retryJsons.set(policy, json);
  return json;
}

function toWireRetry(policy: RetryPolicy): object {
  switch (policy.kind) {
    case 'none':
      return { kind: policy.kind };
    case 'fixed':
      return { kind: policy.kind, baseSeconds: policy.baseMs / 1_000 };
    case 'exponential': {
      const { kind, baseMs, factor, maxMs, jitter } = policy;
      return { kind, baseSeconds: baseMs / 1_000, factor, maxSeconds: maxMs / 1_000, jitter };
    }
  }
}

function leaseJson(job: ShownJob): string {
  return job.claim === null ? 'null' : heldLeaseJson(job, job.claim);
}

function heldLeaseJson(job: ShownJob, claim: Claim): string {
  return (
    `{"workerId":"${claim.workerId}","attempt":${job.attempt}` +
    `,"claimedAt":${instantJson(claim.claimedAt)},"workerSeenAt":${instantJson(job.workerSeenAt ?? null)}}`
  );
}

/** The causes, the stack and the issues are in the attempt: a list of jobs would carry them for nobody. */
function lastErrorJson(error: LastError | null): string {
  if (error === null) return 'null';
  const { name, code, message, attempt } = error;
  return JSON.stringify({ name, code, message, attempt, at: error.at.toISOString() });
}
