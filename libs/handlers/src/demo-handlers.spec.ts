import { describe, expect, it } from '@jest/globals';
import { AbortReason } from '@deadman/domain';
import type { Handler, HandlerContext, HandlerJob } from '@deadman/domain';
import { DEMO_HANDLERS } from './demo-handlers.js';

const demo = (type: string): Handler => {
  const found = DEMO_HANDLERS.find((handler) => handler.type === type);
  if (found === undefined) throw new Error(`There is no ${type}`);
  return found;
};

/** Checks the payload and runs, as the engine does. */
async function run(type: string, payload: unknown, with_: Partial<HandlerContext> & { failures?: number } = {}) {
  const parsed = await demo(type).parse(payload);
  if ('issues' in parsed) return parsed;
  const { failures = 0, ...context } = with_;
  const job = { failures } as HandlerJob;
  const signal = new AbortController().signal;
  return demo(type).run({
    payload: parsed.value,
    job,
    signal,
    progress: () => undefined,
    ...context,
  } as HandlerContext);
}

describe('demo handlers', () => {
  it('demo.echo: returns its payload, whatever that is', async () => {
    for (const payload of [{ a: [1, null] }, 'text', null, 0]) expect(await run('demo.echo', payload)).toEqual(payload);
  });

  it('demo.sleep: sleeps and says how long', async () => {
    expect(await run('demo.sleep', { ms: 1 })).toEqual({ sleptMs: 1 });
  });

  it('demo.sleep: wakes as soon as its signal is aborted', async () => {
    const abort = new AbortController();
    const sleeping = run('demo.sleep', { ms: 86_400_000 }, { signal: abort.signal });
    abort.abort(new AbortReason('shutdown'));
    await expect(sleeping).rejects.toThrow('aborted');
  });

  it('demo.fail: fails as many attempts as it is told, then succeeds', async () => {
    await expect(run('demo.fail', { times: 2 }, { failures: 0 })).rejects.toThrow('failure 1 of 2');
    await expect(run('demo.fail', { times: 2 }, { failures: 1 })).rejects.toThrow('failure 2 of 2');
    expect(await run('demo.fail', { times: 2 }, { failures: 2 })).toEqual({ failures: 2 });
  });

  it('demo.fail: always fails when it is told no number', async () => {
    await expect(run('demo.fail', {}, { failures: 1_000 })).rejects.toThrow('failure 1001');
  });

  it('demo.countdown: shows each step as progress', async () => {
    const shown: unknown[] = [];
    const progress = (value: unknown): void => void shown.push(value);
    expect(await run('demo.countdown', { from: 1 }, { progress })).toEqual({ countedFrom: 1 });
    expect(shown).toEqual([{ left: 1 }, { left: 0 }]);
  });

  it('demo.countdown: stops as soon as its signal is aborted', async () => {
    const abort = new AbortController();
    const counting = run('demo.countdown', { from: 86_400 }, { signal: abort.signal });
    abort.abort(new AbortReason('cancelled'));
    await expect(counting).rejects.toThrow('aborted');
  });

  it.each([
    ['demo.sleep', { ms: '5' }, '/ms'],
    ['demo.sleep', { ms: 2_147_483_648 }, '/ms'],
    ['demo.sleep', { ms: -1 }, '/ms'],
    ['demo.sleep', {}, '/ms'],
    ['demo.sleep', { sm: 5, ms: 5 }, ''],
    ['demo.fail', { times: 1.5 }, '/times'],
    ['demo.countdown', { from: null }, '/from'],
  ])('%s: refuses %j and points to %j', async (type, payload, pointer) => {
    expect(await run(type, payload)).toEqual({ issues: [expect.objectContaining({ pointer })] });
  });
});
