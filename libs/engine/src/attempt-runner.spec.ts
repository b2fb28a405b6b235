import { OUTCOME } from '@deadman/domain';
import type { AbortReasonCode, Handler, HandlerContext, HandlerLog, Job } from '@deadman/domain';
import { aClaimedJob, deferred, FakeClock, RecordingEvents, settle } from '@deadman/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AttemptRunner } from './attempt-runner.js';
import type { AbortGraces, AttemptOutcomeEvent } from './attempt-runner.js';
import { HandlerRegistry } from './handler-registry.js';
import { NO_EFFECTS } from './run-effects.js';
import type { RunEffects } from './run-effects.js';
import { RunLedger } from './run-ledger.js';
import { Run } from './run.js';

const GRACES: AbortGraces = { shutdown: 5_000, cancelled: 30_000, timeout: 1_000, 'lease-lost': 500 };
const SILENT: HandlerLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const REASONS: readonly AbortReasonCode[] = ['shutdown', 'cancelled', 'timeout', 'lease-lost'];

describe('AttemptRunner', () => {
  let clock: FakeClock;
  let events: RecordingEvents;
  let progress: unknown[];

  beforeEach(() => {
    clock = new FakeClock();
    events = new RecordingEvents();
    progress = [];
  });

  function runnerOf(handler: Partial<Handler>, effects?: () => RunEffects): AttemptRunner {
    const registry = new HandlerRegistry();
    registry.register({ type: 'demo.echo', parse: (value) => ({ value }), run: () => undefined, ...handler });
    const record = (_run: Run, value: unknown): void => void progress.push(value);
    return new AttemptRunner(
      {
        registry,
        ledger: new RunLedger(() => {}),
        clock,
        events,
        log: () => SILENT,
        progress: record,
        ...(effects && { effects }),
      },
      GRACES,
    );
  }

  const aRun = (overrides: Partial<Job> = {}): Run => new Run(aClaimedJob({ timeoutMs: 60_000, ...overrides }), 0);

  /** The end of an attempt by this handler, as soon as it has one. */
  function outcomeOf(run: HandlerContextRun, job: Run = aRun()): Promise<AttemptOutcomeEvent> {
    return runnerOf({ run }).run(job);
  }

  type HandlerContextRun = (context: HandlerContext) => unknown;

  /** A handler that never ends, and tells nobody. */
  const ignoreEverything: HandlerContextRun = () => new Promise(() => {});
  /** A handler that throws its signal's reason, as `fetch` and timers do. */
  const obey: HandlerContextRun = ({ signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });

  describe('what a handler returns', () => {
    it.each([
      ['a value', () => ({ sum: 3 }), { kind: 'succeed', result: '{"sum":3}' }],
      ['nothing', () => undefined, { kind: 'succeed', result: 'null' }],
      ['a promise', async () => 'later', { kind: 'succeed', result: '"later"' }],
      ['done', () => ({ [OUTCOME]: 'done', result: [1] }), { kind: 'succeed', result: '[1]' }],
      ['snooze', () => ({ [OUTCOME]: 'snooze', delayMs: 1_500.4 }), { kind: 'snooze', delayMs: 1_500 }],
      [
        'a snooze without end',
        () => ({ [OUTCOME]: 'snooze', delayMs: 1e300 }),
        { kind: 'snooze', delayMs: 316_224_000_000 },
      ],
      ['a snooze of NaN', () => ({ [OUTCOME]: 'snooze', delayMs: Number.NaN }), { kind: 'snooze', delayMs: 0 }],
      ['a snooze into the past', () => ({ [OUTCOME]: 'snooze', delayMs: -5 }), { kind: 'snooze', delayMs: 0 }],
      ['cancel', () => ({ [OUTCOME]: 'cancel' }), { kind: 'cancelled' }],
      [
        'dead',
        () => ({ [OUTCOME]: 'dead', error: 'no hope' }),
        { kind: 'fail', retryable: false, error: { message: 'no hope' } },
      ],
      [
        'an outcome nobody knows',
        () => ({ [OUTCOME]: 'later' }),
        { kind: 'fail', retryable: false, error: { code: 'outcome-unknown' } },
      ],
      ['a BigInt', () => 1n, { kind: 'fail', retryable: false, error: { code: 'result-not-storable' } }],
      ['20 MB', () => 'x'.repeat(20_000_000), { kind: 'fail', retryable: false, error: { code: 'result-too-large' } }],
    ])('%s has one meaning', async (_name, run, event) => {
      await expect(outcomeOf(run)).resolves.toMatchObject({ startedAfterMs: 0, ...event });
    });

    it('a circular object fails for good instead of being retried for ever', async () => {
      const circular: Record<string, unknown> = {};
      circular['self'] = circular;
      const event = await outcomeOf(() => circular);
      expect(event).toMatchObject({ kind: 'fail', retryable: false, error: { code: 'result-not-storable' } });
    });
  });

  describe('what a handler throws', () => {
    it.each([
      ['an error', new Error('no'), 'no'],
      ['null', null, 'A handler threw null'],
      ['a string', 'bad', 'bad'],
      ['a BigInt', 7n, 'A handler threw 7'],
      ['an AggregateError', new AggregateError([new Error('x')], 'all'), 'all'],
      ['a NUL', new Error('a\0b'), 'a�b'],
      ['a lone surrogate', new Error('\ud800'), '�'],
    ])('%s is a failed attempt that may be retried', async (_name, thrown, message) => {
      const event = await outcomeOf(() => {
        throw thrown;
      });
      expect(event).toMatchObject({ kind: 'fail', retryable: true, error: { message } });
    });

    it('a value that throws when it is looked at is a failed attempt too', async () => {
      const thrown = Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('no looking');
        },
      });
      await expect(outcomeOf(() => Promise.reject(thrown))).resolves.toMatchObject({ kind: 'fail', retryable: true });
    });
  });

  describe('the payload', () => {
    it('that does not fit fails for good with what is wrong, and its handler is not called', async () => {
      let calls = 0;
      const issues = [{ pointer: '/to', message: 'is missing' }];
      const event = await runnerOf({ parse: () => ({ issues }), run: () => (calls += 1) }).run(aRun());
      expect(event).toMatchObject({ kind: 'fail', retryable: false, error: { code: 'payload-invalid', issues } });
      expect(calls).toBe(0);
    });

    it('is handed over as its schema made it, and as the text that was sent', async () => {
      const payload = '{"n":9007199254740993}';
      const seen = deferred<HandlerContext>();
      const parse = async (): Promise<{ value: unknown }> => ({ value: { n: 9_007_199_254_740_993n } });
      await runnerOf({ parse, run: (context) => seen.resolve(context) }).run(aRun({ payload }));
      await expect(seen.promise).resolves.toMatchObject({
        payload: { n: 9_007_199_254_740_993n },
        payloadText: payload,
      });
    });

    it('whose check throws is a failed attempt that may be retried', async () => {
      const parse = (): never => {
        throw new Error('schema down');
      };
      await expect(runnerOf({ parse }).run(aRun())).resolves.toMatchObject({ kind: 'fail', retryable: true });
    });
  });

  it('gives the same idempotency key to every attempt of a job and scope', async () => {
    const keysOf = async (job: Run): Promise<unknown> => {
      const seen = deferred<unknown>();
      await outcomeOf((context) => seen.resolve([context.idempotencyKey(), context.idempotencyKey('mail')]), job);
      return seen.promise;
    };
    const run = aRun();
    const later = new Run({ ...run.job, attempt: 2 }, 0);
    expect(await keysOf(run)).toEqual([run.job.id, `${run.job.id}/mail`]);
    expect(await keysOf(later)).toEqual(await keysOf(run));
  });

  it('hands over what a handler says of its progress, and lets it know of a value that cannot be shown', async () => {
    await outcomeOf(({ progress: tell }) => tell({ percent: 10 }));
    expect(progress).toEqual([{ percent: 10 }]);
  });

  describe('what a handler does effectively once', () => {
    function runnerWith(effects: RunEffects, run: HandlerContextRun): AttemptRunner {
      return runnerOf({ run }, () => effects);
    }

    it.each([
      ['a value', 1],
      ['done', { [OUTCOME]: 'done', result: 1 }],
    ])('is named by the success of a handler that returns %s', async (_what, returned) => {
      const effects = { ...NO_EFFECTS, end: async () => ['charge', 'ship'] };
      const event = await runnerWith(effects, () => returned).run(aRun());
      expect(event).toMatchObject({ kind: 'succeed', effects: ['charge', 'ship'] });
    });

    it.each([
      ['returns', () => 1, 'succeed'],
      ['throws', () => Promise.reject(new Error('no')), 'fail'],
    ])('is waited for when the handler %s before it is over', async (_what, run, kind) => {
      const end = deferred<readonly string[]>();
      const outcome = runnerWith({ ...NO_EFFECTS, end: () => end.promise }, run).run(aRun());
      let isOver = false;
      void outcome.then(() => (isOver = true));
      await settle();
      expect(isOver).toBe(false);
      end.resolve(['charge']);
      await expect(outcome).resolves.toMatchObject({ kind });
    });

    it('is waited for no longer than the run may take', async () => {
      const outcome = runnerWith({ ...NO_EFFECTS, end: () => new Promise(() => {}) }, () => 1).run(aRun());
      await clock.advance(60_000 + GRACES.timeout);
      await expect(outcome).resolves.toMatchObject({ kind: 'fail', error: { code: 'timeout' } });
    });

    it('is refused by a worker that has nothing to keep it in', async () => {
      const refused = { kind: 'fail', error: { message: expect.stringContaining('has no EffectStore') } };
      expect(await outcomeOf(({ transaction }) => transaction(() => 1))).toMatchObject(refused);
      expect(await outcomeOf(({ step }) => step('mail', () => 1))).toMatchObject(refused);
    });
  });

  it('hands back a job that nobody here can run', async () => {
    const event = await runnerOf({}).run(aRun({ type: 'unknown.here' }));
    expect(event).toEqual({ kind: 'release', reason: 'not-started', startedAfterMs: null });
    expect(events.of('attempt-started')).toEqual([]);
  });

  it('tells of a start, and for how long the job had waited since it was due', async () => {
    const run = new Run({ ...aClaimedJob(), scheduledFor: new Date('2025-12-31T23:59:58.000Z') }, 0);
    await clock.advance(500);
    await runnerOf({}).run(run);
    expect(events.of('attempt-started')).toMatchObject([{ jobId: run.job.id, attempt: 1, waitedMs: 2_500 }]);
  });

  describe('a timeout', () => {
    it('fails the attempt at its limit, with an obedient handler', async () => {
      const outcome = outcomeOf(obey, aRun({ timeoutMs: 2_000 }));
      await clock.advance(2_000);
      await expect(outcome).resolves.toMatchObject({ kind: 'fail', retryable: true, error: { code: 'timeout' } });
      expect(events.of('run-aborted')).toMatchObject([{ reason: 'timeout' }]);
      expect(clock.pendingTimers).toBe(0);
    });

    it('fails the attempt a second later, with a handler that never ends', async () => {
      const outcome = outcomeOf(ignoreEverything, aRun({ timeoutMs: 2_000 }));
      await clock.advance(2_999);
      let isOver = false;
      void outcome.then(() => (isOver = true));
      await settle();
      expect(isOver).toBe(false);
      await clock.advance(1);
      await expect(outcome).resolves.toMatchObject({ kind: 'fail', error: { code: 'timeout' } });
      expect(clock.pendingTimers).toBe(0);
    });

    it('may be longer than timers can wait', async () => {
      const outcome = outcomeOf(() => 'quick', aRun({ timeoutMs: 1e13 }));
      await expect(outcome).resolves.toMatchObject({ kind: 'succeed' });
    });

    it('is forgotten when the handler ends in time', async () => {
      await outcomeOf(() => 1);
      expect(clock.pendingTimers).toBe(0);
    });
  });

  describe('an abort', () => {
    const MEANINGS: Readonly<Record<AbortReasonCode, unknown>> = {
      shutdown: { kind: 'release', reason: 'shutdown', startedAfterMs: 0 },
      cancelled: { kind: 'cancelled', startedAfterMs: 0 },
      timeout: expect.objectContaining({ kind: 'fail', retryable: true }),
      'lease-lost': null,
    };

    it.each(REASONS)('for %s decides what a throw means', async (reason) => {
      const run = aRun();
      const outcome = outcomeOf(obey, run);
      await settle();
      run.abort(reason);
      await expect(outcome).resolves.toEqual(MEANINGS[reason]);
      expect(clock.pendingTimers).toBe(0);
    });

    it.each(REASONS)('for %s ends a run whose handler ignores it, after its grace and not before', async (reason) => {
      const run = aRun({ timeoutMs: 1e9 });
      const outcome = outcomeOf(ignoreEverything, run);
      let isOver = false;
      void outcome.then(() => (isOver = true));
      await settle();
      run.abort(reason);
      await clock.advance(GRACES[reason] - 1);
      expect(isOver).toBe(false);
      await clock.advance(1);
      await expect(outcome).resolves.toEqual(MEANINGS[reason]);
      expect(clock.pendingTimers).toBe(0);
    });

    it.each(REASONS)('for %s leaves the decision to a handler that returns', async (reason) => {
      const run = aRun();
      const end = deferred<string>();
      const outcome = outcomeOf(() => end.promise, run);
      await settle();
      run.abort(reason);
      end.resolve('made it');
      await expect(outcome).resolves.toMatchObject({ kind: 'succeed', result: '"made it"' });
    });

    it('for one reason is not turned into another by a later one', async () => {
      const run = aRun({ timeoutMs: 2_000 });
      const outcome = outcomeOf(ignoreEverything, run);
      await settle();
      run.abort('cancelled');
      await clock.advance(2_000 + GRACES.timeout);
      run.abort('shutdown');
      await clock.advance(GRACES.cancelled);
      await expect(outcome).resolves.toEqual(MEANINGS.cancelled);
      expect(events.of('run-aborted')).toHaveLength(1);
    });

    it('takes no harm from a handler that fails long after it was given up', async () => {
      const run = aRun();
      const end = deferred<string>();
      const outcome = outcomeOf(() => end.promise, run);
      await settle();
      run.abort('timeout');
      await clock.advance(GRACES.timeout);
      await expect(outcome).resolves.toMatchObject({ kind: 'fail' });
      end.reject(new Error('at last'));
      await settle();
    });
  });

  it('gives up at once what was aborted, when it is told to, and nothing else', async () => {
    const runner = runnerOf({ run: ignoreEverything });
    const aborted = aRun();
    const going = aRun();
    const outcome = runner.run(aborted);
    let isOver = false;
    void runner.run(going).then(() => (isOver = true));
    await settle();
    aborted.abort('cancelled');
    runner.giveUpAborted();
    await expect(outcome).resolves.toMatchObject({ kind: 'cancelled' });
    await settle();
    expect(isOver).toBe(false);
    expect(clock.pendingTimers).toBe(1);
  });
});
