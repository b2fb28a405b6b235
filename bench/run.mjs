/**
 * `npm run bench`: intake, lists and memory, on an embedded PostgreSQL of its own.
 *
 * Prints a table and writes it as JSON. Ends with 1 when a floor is missed. `--rows 1000000` sets the size of the table
 * that is listed, `--jobs 200000` how many jobs are submitted in bulk.
 */
import { startEmbeddedPostgres } from '@deadman/embedded-postgres';
import { migrate } from '@deadman/store';
import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listBuffers } from './lists.mjs';
import { endWhenTold, untilTold } from '../tools/signals.mjs';
import { cpuMs, ROOT, startBareFastify, startStandalone, watchMemory } from './processes.mjs';
import { submitInBulk, submitOneByOne } from './submit.mjs';

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, jobs: { type: 'string', default: '200000' } },
});
const ROWS = Number(values.rows);
const JOBS = Number(values.jobs);
/** Many short rounds by turns rather than a few long ones, so that a neighbour's busy moment falls on both sides alike. */
const ROUNDS = 15;
const FLOORS = { bulkPerSecond: 10_000, singleShare: 0.35, deepPageFactor: 2 };
const FOLDER = join(ROOT, '.deadman', 'bench');

rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const starting = startEmbeddedPostgres({ dataDir: join(FOLDER, 'postgres') });
endWhenTold(async () => (await starting).destroy());
process.exitCode = await untilTold(async () => {
  const postgres = await starting;
  try {
    await migrate(postgres.url);
    const intake = await measureIntake(postgres.localUrl);
    const buffers = await listBuffers(postgres.url, { rows: ROWS, depth: 1_000 });
    return report({ ...intake, buffers });
  } finally {
    await postgres.destroy();
  }
});

async function measureIntake(databaseUrl) {
  const bare = await startBareFastify();
  const standalone = await startStandalone({ databaseUrl, log: openSync(join(FOLDER, 'standalone.log'), 'a') });
  const memory = watchMemory(standalone.pid);
  try {
    await submitInBulk(standalone.url, { jobs: 20_000 });
    const cpuBefore = cpuMs(standalone.pid);
    const bulkPerSecond = await submitInBulk(standalone.url, { jobs: JOBS });
    const bulkCpuMicros = ((cpuMs(standalone.pid) - cpuBefore) * 1_000) / JOBS;
    const trivial = await submitOneByOne(bare.url, { path: '/trivial' });
    await submitOneByOne(bare.url);
    await submitOneByOne(standalone.url);
    const rounds = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push({ bare: await submitOneByOne(bare.url), single: await submitOneByOne(standalone.url) });
    }
    const summary = { ...summaryOf(rounds), trivialPerSecond: trivial.perSecond };
    return { bulkPerSecond, bulkCpuMicros, ...summary, residentMiB: memory.stop() };
  } finally {
    memory.stop();
    await standalone.stop();
    await bare.stop();
  }
}

function summaryOf(rounds) {
  const shares = rounds.map(({ single, bare }) => single.perSecond / bare.perSecond);
  return {
    singlePerSecond: median(rounds.map(({ single }) => single.perSecond)),
    singleP99Ms: median(rounds.map(({ single }) => single.p99Ms)),
    barePerSecond: median(rounds.map(({ bare }) => bare.perSecond)),
    singleShare: median(shares),
    singleShareQuartiles: [quantile(shares, 0.25), quantile(shares, 0.75)],
  };
}

/** Returns the exit code. */
function report(figures) {
  const { residentMiB: memory, buffers } = figures;
  const deepPageFactor = buffers.deep / buffers.first;
  const rows = [
    [
      'bulk submit, 1,000 a call, 200 bytes',
      `${Math.round(figures.bulkPerSecond)} jobs/s`,
      `≥ ${FLOORS.bulkPerSecond}`,
    ],
    ['the same, CPU of the process', `${figures.bulkCpuMicros.toFixed(0)} µs/job`, ''],
    ['single submit, 50 connections', `${Math.round(figures.singlePerSecond)} /s, p99 ${figures.singleP99Ms} ms`, ''],
    ['bare Fastify route with the same body and answer', `${Math.round(figures.barePerSecond)} /s`, ''],
    ['bare Fastify route that does next to nothing', `${Math.round(figures.trivialPerSecond)} /s`, ''],
    [
      `single submit, share of the bare route, median (quartiles) of ${ROUNDS} rounds by turns`,
      `${figures.singleShare.toFixed(3)} (${figures.singleShareQuartiles.map((share) => share.toFixed(3)).join(', ')})`,
      `≥ ${FLOORS.singleShare}`,
    ],
    ['memory: first, median, last, most', memoryOf(memory), ''],
    [
      `buffers of page 1 and page 1,000 of ${ROWS.toLocaleString('en')} ended jobs`,
      `${buffers.first} and ${buffers.deep}`,
      '',
    ],
    ['page 1,000 in page ones', deepPageFactor.toFixed(2), `≤ ${FLOORS.deepPageFactor}`],
  ];
  process.stdout.write(`\n${cpus().length} × ${cpus()[0].model.trim()}, Node ${process.versions.node}\n\n`);
  process.stdout.write('| what | measured | floor |\n|---|---|---|\n');
  for (const row of rows) process.stdout.write(`| ${row.join(' | ')} |\n`);
  writeFileSync(join(FOLDER, 'bench.json'), `${JSON.stringify({ ...figures, deepPageFactor }, null, 2)}\n`);
  const isGood =
    figures.bulkPerSecond >= FLOORS.bulkPerSecond &&
    figures.singleShare >= FLOORS.singleShare &&
    deepPageFactor <= FLOORS.deepPageFactor;
  process.stdout.write(isGood ? '\nAll floors are held.\n' : '\nA floor is missed.\n');
  return isGood ? 0 : 1;
}

function memoryOf(samples) {
  const rounded = [samples[0], median(samples), samples.at(-1), Math.max(...samples)].map(Math.round);
  return `${rounded.join(', ')} MiB`;
}

function median(numbers) {
  return quantile(numbers, 0.5);
}

function quantile(numbers, share) {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * share)];
}
