import type { EngineEvent } from '@deadman/domain';
import { anAttemptError } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { EventLog } from './event-log.js';
import { frameworkLog } from './framework-log.js';
import { handlerLog } from './handler-log.js';
import { createLogger } from './logger.js';
import type { Logger, LogOptions } from './logger.js';

const INFO = { service: 'worker', instance: 'worker-1', version: '1.0.0' };
const JOB = { jobId: 'job-1', type: 'order.charge', queue: 'default', attempt: 2 };

type Line = Record<string, unknown>;

function recordingLogger(
  level: LogOptions['level'],
  format: LogOptions['format'] = 'json',
): { logger: Logger; raw: string[]; lines: () => Line[] } {
  const raw: string[] = [];
  const logger = createLogger(INFO, { level, format }, { write: (text) => void raw.push(text) });
  return { logger, raw, lines: () => raw.map((text) => JSON.parse(text) as Line) };
}

function linesOf(level: LogOptions['level'], ...events: EngineEvent[]): Line[] {
  const { logger, lines } = recordingLogger(level);
  const log = new EventLog(logger);
  for (const event of events) log.emit(event);
  return lines();
}

const settled = (overrides: Partial<Extract<EngineEvent, { kind: 'attempt-settled' }>>): EngineEvent => ({
  kind: 'attempt-settled',
  ...JOB,
  outcome: 'succeeded',
  state: 'SUCCEEDED',
  ranMs: 12,
  endToEndMs: 40,
  error: null,
  reason: null,
  ...overrides,
});

describe('createLogger', () => {
  it('writes one JSON object a line, with time, level, message and who speaks', () => {
    const { logger, raw, lines } = recordingLogger('info');
    logger.info({ event: 'service.started', port: 8_080 }, 'Ready');
    expect(raw[0]).toMatch(/^\{.*\}\n$/);
    expect(lines()).toEqual([
      {
        level: 'info',
        ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        service: 'worker',
        instance: 'worker-1',
        event: 'service.started',
        port: 8_080,
        msg: 'Ready',
      },
    ]);
  });

  it('writes errors under err, with their causes', () => {
    const { logger, lines } = recordingLogger('info');
    logger.error({ event: 'x', err: new Error('outer', { cause: new Error('inner') }) }, 'failed');
    expect(lines()[0]!['err']).toMatchObject({ name: 'Error', message: 'outer', causes: [{ message: 'inner' }] });
  });

  it('leaves out what is below its level', () => {
    const { logger, raw } = recordingLogger('warn');
    logger.info('not this');
    logger.warn('but this');
    expect(raw).toHaveLength(1);
  });

  it('writes lines for people when asked to', () => {
    const { logger, raw } = recordingLogger('info', 'pretty');
    logger.info({ event: 'service.started', port: 8_080 }, 'Ready');
    logger.error({ event: 'x', err: new Error('boom') }, 'Failed');
    expect(raw[0]).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] .*INFO.*: .*Ready.*8080/);
    expect(raw[1]).toContain('boom');
  });
});

describe('EventLog', () => {
  it('says nothing at info of a job that just starts and succeeds', () => {
    const routine: EngineEvent[] = [
      { kind: 'jobs-submitted', created: 5, replayed: 0 },
      { kind: 'jobs-claimed', by: 'ticket', count: 5, leases: [] },
      { kind: 'tickets-handled', result: 'claimed', count: 5 },
      { kind: 'attempt-started', waitedMs: 3, ...JOB },
      settled({}),
      settled({ outcome: 'snoozed', state: 'SCHEDULED' }),
      { kind: 'leases-renewed', result: 'renewed', count: 5 },
      { kind: 'reaper-scanned', storeUnbrokenMs: 1, isLeaseStoreTrusted: true },
      { kind: 'jobs-promoted', count: 3, maxDelayMs: 5 },
      { kind: 'outbox-sent', by: 'writer', count: 1, failed: 0 },
      { kind: 'jobs-purged', jobs: 10 },
      { kind: 'loop-turned', loop: 'reaper' },
    ];
    expect(linesOf('info', ...routine)).toEqual([]);
    expect(linesOf('debug', ...routine).map(({ event }) => event)).toEqual([
      'jobs.submitted',
      'jobs.claimed',
      'tickets.claimed',
      'attempt.started',
      'attempt.succeeded',
      'attempt.snoozed',
      'leases.renewed',
      'reaper.scanned',
      'jobs.promoted',
      'outbox.sent',
      'jobs.purged',
    ]);
  });

  it.each<[string, EngineEvent]>([
    ['attempt.failed', settled({ outcome: 'failed', state: 'FAILED', error: anAttemptError() })],
    ['attempt.released', settled({ outcome: 'released', state: 'PENDING', reason: 'shutdown' })],
    ['job.dead', settled({ outcome: 'failed', state: 'DEAD', error: anAttemptError(), reason: 'exhausted' })],
    ['job.cancelled', settled({ outcome: 'cancelled', state: 'CANCELLED' })],
    ['write.fenced', { kind: 'write-fenced', operation: 'succeed', jobId: 'job-1', attempt: 2 }],
    ['run.lost', { kind: 'run-lost', reason: 'stale', ...JOB }],
    ['run.aborted', { kind: 'run-aborted', reason: 'timeout', ...JOB }],
    ['claim.orphan-released', { kind: 'orphan-released', jobId: 'job-1', attempt: 2 }],
    [
      'lease.expired',
      {
        kind: 'job-reclaimed',
        workerId: 'worker-2',
        reason: 'worker-gone',
        state: 'PENDING',
        recoveryMs: 31_000,
        ...JOB,
      },
    ],
    [
      'dead-letter.recorded',
      { kind: 'dead-letter-recorded', jobId: 'job-1', attempt: 2, reason: 'exhausted', superseded: false },
    ],
  ])('says %s at info, with the job and its attempt', (name, event) => {
    expect(linesOf('info', event)).toEqual([
      expect.objectContaining({ level: 'info', event: name, jobId: 'job-1', attempt: 2 }),
    ]);
  });

  it.each<[string, EngineEvent]>([
    ['jobs.rejected', { kind: 'submit-rejected', because: 'data', count: 1 }],
    ['claim.failed', { kind: 'claim-failed', error: new Error('away') }],
    ['beat.failed', { kind: 'beat-failed', error: new Error('away') }],
    ['loop.failed', { kind: 'loop-failed', loop: 'reaper', error: new Error('away') }],
    ['outbox.send-failed', { kind: 'outbox-sent', by: 'relay', count: 1, failed: 2 }],
    ['tickets.malformed', { kind: 'tickets-handled', result: 'malformed', count: 1 }],
    ['leases.renewal-failed', { kind: 'leases-renewed', result: 'error', count: 1 }],
  ])('warns of %s', (name, event) => {
    expect(linesOf('warn', event)).toEqual([expect.objectContaining({ level: 'warn', event: name })]);
  });

  it('tells how long things took and why an attempt failed, and no issue of a payload', () => {
    const error = anAttemptError({
      name: 'PayloadInvalid',
      issues: [{ pointer: '/card', message: 'got "4111 1111"' }],
    });
    const [line] = linesOf('info', settled({ outcome: 'failed', state: 'DEAD', error, reason: 'non-retryable' }));
    expect(line).toMatchObject({ durationMs: 12, reason: 'non-retryable', err: { name: 'PayloadInvalid' } });
    expect(JSON.stringify(line)).not.toContain('4111');
    const [reclaimed] = linesOf('info', {
      kind: 'job-reclaimed',
      workerId: 'worker-2',
      reason: 'timeout',
      state: 'PENDING',
      recoveryMs: 31_000,
      ...JOB,
    });
    expect(reclaimed).toMatchObject({ workerId: 'worker-2', durationMs: 31_000 });
  });
});

describe('handlerLog', () => {
  it('puts the job beside each line, and keeps what the handler adds apart', () => {
    const { logger, lines } = recordingLogger('info');
    const job = {
      id: 'job-1',
      type: 'demo',
      queue: 'default',
      attempt: 3,
      failures: 0,
      lapses: 0,
      maxAttempts: 5,
      createdAt: new Date(0),
      tags: [],
    };
    handlerLog(logger, job).warn('slow', { jobId: 'forged', ms: 5 });
    expect(lines()).toEqual([
      expect.objectContaining({
        level: 'warn',
        event: 'handler.log',
        jobId: 'job-1',
        type: 'demo',
        attempt: 3,
        msg: 'slow',
        fields: { jobId: 'forged', ms: 5 },
      }),
    ]);
  });
});

describe('frameworkLog', () => {
  it("makes a framework's chatter debug and keeps the level of its warnings", () => {
    const { logger, lines } = recordingLogger('debug');
    const log = frameworkLog(logger);
    log.log('Mapped {/jobs, POST} route', 'RouterExplorer');
    log.error(new Error('boom'), 'stack', 'ExceptionHandler');
    expect(lines()).toEqual([
      expect.objectContaining({ level: 'debug', context: 'RouterExplorer', msg: 'Mapped {/jobs, POST} route' }),
      expect.objectContaining({
        level: 'error',
        context: 'ExceptionHandler',
        err: expect.objectContaining({ message: 'boom' }),
      }),
    ]);
  });
});
