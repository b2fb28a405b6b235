import { readFileSync } from 'node:fs';
import type { Refusal } from '../load/client.js';
import type { Site } from '../run/site.js';
import type { Stage } from '../run/stage.js';
import { SURROUNDINGS } from './scenario.js';
import type { Scenario } from './scenario.js';

/** Times what the worker can do. */
const OVER = 10;

/** Runs are short, so that a small machine can be overloaded in its queue and not in its processors. Milliseconds. */
const RUN_MS = 200;

const FOR_MS = 60_000;
const LEAST_MS = 10_000;

const PER_BATCH = 100;

/** Twice the jobs that an api holds at once (`maxWaiting` of the submitter). They run for a moment: the backlog is the flood's. */
const WAVE = 20_000;
const WAVE_RUN_MS = 1;

/** Until the first of the wave is refused. A bound against hanging. Milliseconds. */
const REFUSED_WITHIN_MS = 30_000;

/** The drain lasts ten times as long as the flood. A bound against hanging, as a multiple of that. */
const PATIENCE = 3;

const SAMPLE_EVERY_MS = 1_000;

/** What the second half of the run may need beyond the first, as a factor and in MiB: collectors take their time. */
const [GROWTH, SLACK_MIB] = [1.25, 48];

export const overload: Scenario = {
  name: 'overload',
  number: 31,
  title: 'clients hand in ten times what the worker can do, then more than the api can hold, and do not wait for it',
  fleet: () => [...SURROUNDINGS, ['worker', 'worker-1']],
  async act(stage) {
    const memory = sampleMemory(stage.site);
    const floodMs = stage.scaledMs(FOR_MS, LEAST_MS);
    await flood(stage, (OVER * stage.options.slots * 1_000) / RUN_MS, floodMs);
    await wave(stage);
    stage.say('the backlog drains');
    await stage.until(() => stage.open <= 0, PATIENCE * OVER * floodMs, 500);
    const samples = memory.stop();
    stage.figures['memory at most, MiB'] = Object.fromEntries(
      [...samples].map(([name, values]) => [name, values.reduce((a, b) => Math.max(a, b), 0)]),
    );
    const growth = [...samples].flatMap(([name, values]) => growthOf(name, values));
    stage.find('memory-is-flat', 'no service needs more memory in the second half than in the first', growth);
    const { refusals } = stage.client;
    const odd = refusals.filter(({ status, retryAfter }) => (status !== 429 && status !== 503) || retryAfter === null);
    stage.find(
      'refusals-are-back-pressure',
      'who is refused is told with 429 or 503, and when to come again',
      odd.map(({ status, code }) => `${status} ${code}`),
    );
    const overloaded = refusals.filter(isOverloaded).length;
    stage.figures['batches that the api could not hold'] = overloaded;
    stage.find(
      'the-api-holds-no-more-than-it-can',
      'what exceeds the bounds of the api is refused as overloaded',
      overloaded > 0 ? [] : [`${WAVE} jobs at once, and none was`],
    );
  },
};

/** An open loop: the pace is kept, whatever is answered, and nobody asks again. */
async function flood(stage: Stage, perSecond: number, forMs: number): Promise<void> {
  const open: Promise<void>[] = [];
  const begunMs = performance.now();
  for (let sent = 0; performance.now() - begunMs < forMs && !stage.stop.aborted;) {
    const due = ((performance.now() - begunMs) / 1_000) * perSecond;
    for (; sent < due; sent += PER_BATCH) open.push(handIn(stage, `flood-${sent}`, RUN_MS));
    stage.say(`${sent} handed in`);
    await stage.pause(10);
  }
  await Promise.all(open);
}

/** While nothing can be written to the table, all that comes has to wait at the api. */
async function wave(stage: Stage): Promise<void> {
  stage.say('nothing can be written, and clients hand in more than the api holds');
  const open: Promise<void>[] = [];
  await stage.site.sql.holding('LOCK TABLE deadman.jobs IN SHARE MODE', async () => {
    for (let sent = 0; sent < WAVE; sent += PER_BATCH) open.push(handIn(stage, `wave-${sent}`, WAVE_RUN_MS));
    await stage.until(() => stage.client.refusals.some(isOverloaded), REFUSED_WITHIN_MS, 10);
  });
  await Promise.all(open);
}

const isOverloaded = ({ code }: Refusal): boolean => code === 'overloaded';

async function handIn(stage: Stage, name: string, ms: number): Promise<void> {
  const jobs = Array.from({ length: PER_BATCH }, (_, index) => ({
    type: 'chaos.fire',
    queue: stage.site.queue,
    payload: { ms },
    idempotencyKey: `${stage.seed}-${name}-${index}`,
  }));
  stage.ledger.add((await stage.client.submitOnce(jobs)) ?? []);
}

function sampleMemory({ services }: Site): { stop(): ReadonlyMap<string, readonly number[]> } {
  const samples = new Map<string, number[]>();
  const sample = (): void => {
    for (const { instance, record } of services.running) {
      const values = samples.get(instance) ?? [];
      samples.set(instance, [...values, residentMiB(record.pid)]);
    }
  };
  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return samples;
    },
  };
}

/** As the kernel counts it. */
function residentMiB(pid: number): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1_024);
}

function growthOf(name: string, values: readonly number[]): string[] {
  const middle = Math.ceil(values.length / 2);
  const most = (part: readonly number[]): number => part.reduce((a, b) => Math.max(a, b), 0);
  const [before, after] = [most(values.slice(0, middle)), most(values.slice(middle))];
  return after > GROWTH * before + SLACK_MIB ? [`${name}: ${before} MiB, then ${after} MiB`] : [];
}
