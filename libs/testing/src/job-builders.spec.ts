import { isUuid, Transition } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { aClaimedJob, aFailure, aJob, aJobSpec, aSubmission, aSuccess } from './job-builders.js';

describe('job builders', () => {
  it('give every job an id of its own', () => {
    const ids = [aJobSpec().id, aJobSpec().id, aJob().id];
    expect(ids.every(isUuid)).toBe(true);
    expect(new Set(ids).size).toBe(3);
  });

  it('make transitions that the domain itself decided', () => {
    expect(Transition.isGenuine(aSubmission().transition)).toBe(true);
    expect(aSuccess(aClaimedJob()).decision.state).toBe('SUCCEEDED');
    expect(aFailure(aClaimedJob(), {}, false).decision.state).toBe('DEAD');
  });

  it('refuse to build what the domain refuses', () => {
    expect(() => aSuccess(aJob())).toThrow('refuses "succeed" for a job that is PENDING');
  });

  it('give a submission a fingerprint exactly when it has a key', () => {
    expect(aSubmission().fingerprint).toBeNull();
    expect(aSubmission({ idempotencyKey: 'order-1' }).fingerprint).not.toBeNull();
  });
});
