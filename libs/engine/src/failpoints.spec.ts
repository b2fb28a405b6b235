import { DeadmanError, FAILPOINTS, Failpoints } from '@deadman/domain';
import type { Failpoint } from '@deadman/domain';
import { describe, expect, it } from '@jest/globals';
import { aHandler, EngineUnderTest } from './engine-under-test.contract.js';

/** Notes where the work comes by, and fails once at each place it is told. */
class NotingFailpoints extends Failpoints {
  readonly passed: Failpoint[] = [];
  readonly #failing: Set<Failpoint>;

  constructor(...failing: readonly Failpoint[]) {
    super();
    this.#failing = new Set(failing);
  }

  override at(place: Failpoint): Promise<void> | undefined {
    this.passed.push(place);
    if (!this.#failing.delete(place)) return undefined;
    return Promise.reject(new DeadmanError('unknown-outcome', `failpoint ${place}`));
  }
}

async function runOneJob(failpoints: NotingFailpoints): Promise<EngineUnderTest & { readonly jobId: string }> {
  const engine = new EngineUnderTest({ failpoints });
  const worker = engine.workerOf([aHandler(() => 'done')]);
  await worker.start();
  const submitting = engine.submit({ retry: { kind: 'fixed', baseMs: 0 } });
  await engine.clock.advance(10_000);
  return Object.assign(engine, { jobId: await submitting });
}

describe('failpoints', () => {
  it('are passed in the order of their list by a job that goes through', async () => {
    const failpoints = new NotingFailpoints();
    const engine = await runOneJob(failpoints);
    expect(engine.jobOf(engine.jobId).state).toBe('SUCCEEDED');
    const lastOf = (place: Failpoint): number => failpoints.passed.lastIndexOf(place);
    const afterClaim = failpoints.passed.slice(lastOf('after_claim'));
    const before = failpoints.passed.slice(0, lastOf('after_claim'));
    expect(before.indexOf('after_submit_commit')).toBeLessThan(before.indexOf('before_outbox_send'));
    expect(before).toContain('before_claim');
    expect(afterClaim.filter((place) => place !== 'before_claim')).toEqual(FAILPOINTS.slice(3));
  });

  it.each(FAILPOINTS)('an error at %s costs no job', async (place) => {
    const failpoints = new NotingFailpoints(place);
    const engine = await runOneJob(failpoints);
    await engine.startServices();
    await engine.clock.advance(60_000);
    expect(failpoints.passed).toContain(place);
    expect(engine.jobOf(engine.jobId).state).toBe('SUCCEEDED');
    expect(engine.outcomesOf(engine.jobId).filter((outcome) => outcome === 'succeeded')).toHaveLength(1);
  });
});
