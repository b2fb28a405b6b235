/**
 * `npm run demo`: starts everything, hands in jobs, kills the worker that runs them, freezes another one, and tells what
 * becomes of it all. Whatever it says it has seen: in the api's answers, in the services' logs and in their metrics. Exits
 * with 1 when something does not come out as it should, and then leaves the logs. Everything it starts ends with it.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { endWhenTold, isTold } from './signals.mjs';
import { ROOT } from './workspace.mjs';

const DATA_DIR = join(ROOT, '.deadman', 'demo');

/** Short, so that nobody has to wait for long; in production it is 30 s. Milliseconds. */
const TTL_MS = 5_000;

const JOBS = 4;

/** Seconds that each job counts down from: enough for a kill in the middle. */
const COUNT_FROM = 10;

/** How long a job takes whose worker is frozen. Milliseconds: shorter than the freeze, so that it wakes up with an outcome. */
const FROZEN_JOB_MS = 0.8 * TTL_MS;

/** A bound against hanging, on a busy machine too. Milliseconds. */
const WITHIN_MS = 120_000;

const LOOK_EVERY_MS = 100;

const SERVERS = { postgres: 'DATABASE_URL', redis: 'REDIS_URL', kafka: 'KAFKA_BROKERS' };

process.exitCode = await main();

async function main() {
  await ensureInstalled();
  await ensureBuilt();
  const { Stack } = await import('../libs/stack/dist/index.js');
  const { Services } = await import('../libs/services/dist/index.js');
  rmSync(join(DATA_DIR, 'services'), { recursive: true, force: true });
  const stack = new Stack({ dataDir: DATA_DIR, log: say });
  const site = { stack, services: null };
  // Leaves nothing behind, whenever somebody has seen enough.
  endWhenTold(() => closeSite(site));
  try {
    await openSite(site, Services);
    await killAWorker(site.services);
    await freezeAWorker(site.services);
    await closeSite(site);
    rmSync(DATA_DIR, { recursive: true, force: true });
    return 0;
  } catch (error) {
    // The site is being closed already, and that ends the process.
    if (isTold()) return 1;
    process.stderr.write(`\nThe demo did not come out as it should: ${error.stack}\nThe logs: ${DATA_DIR}/services\n`);
    await closeSite(site);
    return 1;
  }
}

async function openSite(site, Services) {
  chapter('PostgreSQL, Redis and Kafka, and the four services on them');
  const servers = await site.stack.up();
  for (const { service, port } of servers) say(`${service} answers on port ${port}`);
  const urls = Object.fromEntries(servers.map(({ service, url }) => [SERVERS[service], url]));
  const settings = { ...urls, DEADMAN_LEASE_TTL_MS: String(TTL_MS), DEADMAN_SLOTS: String(JOBS) };
  site.services = new Services({ dataDir: DATA_DIR, settings, ownGroups: true });
  await site.services.prepare();
  await site.services.startAll();
  for (const { instance, record } of site.services.running) say(`${instance} is ready (process ${record.pid})`);
}

async function closeSite({ stack, services }) {
  chapter('The end');
  const ends = services === null ? [] : await services.stopAll();
  if (ends.length > 0) say(`All services have stopped${ends.every(({ code }) => code === 0) ? ' cleanly' : ''}.`);
  for (const server of Object.keys(SERVERS)) await stack.wipe(server);
  say('The servers are down, and their data is gone.');
}

async function killAWorker(services) {
  const api = services.get('api-1');
  const reaper = services.get('reaper-1');
  chapter(`${JOBS} jobs, and a worker that is killed while it runs them`);
  const ids = [];
  for (let count = 0; count < JOBS; count += 1) {
    ids.push(await submit(api, { type: 'demo.countdown', payload: { from: COUNT_FROM } }));
  }
  await until('worker-1 runs all of them', async () => (await busy(services.get('worker-1'))) === JOBS);
  say(`worker-1 runs ${ids.map(short).join(', ')}: each counts down from ${COUNT_FROM}, a second a step.`);
  await services.start('worker', 'worker-2');
  say('worker-2 joins. It has nothing to do.');

  const clock = stopwatch();
  const { pid } = services.get('worker-1').record;
  await services.get('worker-1').kill();
  clock(`kill -9 ${pid}: worker-1 is dead, and has told nobody.`);
  const states = await Promise.all(ids.map(async (id) => (await find(api, id)).state));
  expect(
    states.every((state) => state === 'running'),
    `The jobs are ${states.join()}`,
  );
  clock(`The api still says that they run. Their leases hold for up to ${TTL_MS / 1000} s.`);

  const told = new Set();
  const isOver = async () => {
    for (const { jobId, durationMs } of reaper.lines('lease.expired')) {
      const silent = `no sign of life for ${(durationMs / 1000).toFixed(1)} s`;
      const tell = () =>
        clock(`reaper-1 takes ${short(jobId)} from worker-1 (${silent}): it is ready again, with a lapse`);
      if (ids.includes(jobId)) once(told, `${jobId} taken`, tell);
    }
    const jobs = await Promise.all(ids.map((id) => find(api, id)));
    for (const { id, state, attempt } of jobs) {
      if (attempt === 2) once(told, `${id} started`, () => clock(`worker-2 runs ${short(id)}, attempt 2`));
      if (state === 'succeeded') once(told, `${id} ended`, () => clock(`${short(id)} succeeded`));
    }
    return jobs.every(({ state }) => state === 'succeeded');
  };
  await until('all jobs end', isOver);
  for (const id of ids) await expectTakenOver(api, id);
  const [first] = ids;
  say(`\nWhat GET /jobs/${first}/attempts tells of it:`);
  for (const { attempt, outcome, reclaimedBy, reason } of await attemptsOf(api, first)) {
    say(`  attempt ${attempt}: ${outcome}${reclaimedBy === null ? '' : `, reclaimed by ${reclaimedBy}, ${reason}`}`);
  }
}

async function freezeAWorker(services) {
  const api = services.get('api-1');
  chapter('A worker that only seems to be dead, and comes back');
  await services.start('worker', 'worker-1');
  const id = await submit(api, { type: 'demo.sleep', payload: { ms: FROZEN_JOB_MS } });
  const workers = ['worker-1', 'worker-2'].map((name) => services.get(name));
  const frozen = await until('a worker runs the job', async () => {
    const counts = await Promise.all(workers.map(busy));
    return workers[counts.indexOf(1)];
  });
  const other = workers.find((worker) => worker !== frozen);
  const clock = stopwatch();
  frozen.pause();
  clock(`${frozen.instance} runs ${short(id)} and is frozen (SIGSTOP), as by a long pause of its machine.`);
  await until('the job is taken over', async () => (await find(api, id)).attempt === 2);
  clock(`Its lease has lapsed, and ${other.instance} runs ${short(id)} now, attempt 2.`);
  frozen.resume();
  clock(`${frozen.instance} wakes up, and its handler ends: it believes that the job is its own.`);
  await until('the late outcome is counted', async () => (await refused(frozen)) + (await dropped(frozen)) > 0);
  if ((await refused(frozen)) > 0)
    clock(`PostgreSQL refused what ${frozen.instance} wanted to write: the fence has moved on.`);
  else clock(`${frozen.instance} has seen that its lease is lost: it stopped its run, and writes nothing.`);
  await until('the job ends', async () => (await find(api, id)).state === 'succeeded');
  await expectTakenOver(api, id);
  clock(`${short(id)} succeeded, by the attempt of ${other.instance} and by no other.`);
}

async function expectTakenOver(api, id) {
  const job = await find(api, id);
  expect(job.attempt === 2 && job.failures === 0 && job.lapses === 1, `Not taken over once: ${JSON.stringify(job)}`);
  const attempts = await attemptsOf(api, id);
  const outcomes = attempts.map(({ outcome }) => outcome).join();
  expect(outcomes === 'lapsed,succeeded', `The attempts of ${id} ended ${outcomes}`);
  expect(attempts[0].reclaimedBy === 'reaper-1', `${id} was reclaimed by ${attempts[0].reclaimedBy}`);
}

async function submit(api, job) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${api.url}/jobs`, { method: 'POST', headers, body: JSON.stringify(job) });
  const body = await answer.json();
  expect(answer.status === 201, `POST /jobs answered ${answer.status}: ${JSON.stringify(body)}`);
  return body.id;
}

async function find(api, id) {
  return (await fetch(`${api.url}/jobs/${id}`)).json();
}

async function attemptsOf(api, id) {
  return (await (await fetch(`${api.url}/jobs/${id}/attempts`)).json()).items;
}

function busy(worker) {
  return worker.metric('worker_slots_busy');
}

/** How many of its writes the fence refused. */
function refused(worker) {
  return worker.metric('fenced_writes_rejected_total');
}

/** How many of its runs it has given up itself. */
function dropped(worker) {
  return worker.metric('runs_lost_total');
}

/** Looks until `seen` answers with something, and returns that. */
async function until(what, seen) {
  const deadlineMs = performance.now() + WITHIN_MS;
  for (;;) {
    const found = await seen();
    if (found) return found;
    expect(performance.now() < deadlineMs, `Within ${WITHIN_MS / 1000} s it was not seen that ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}

function expect(holds, complaint) {
  if (!holds) throw new Error(complaint);
}

function once(told, what, tell) {
  if (told.has(what)) return;
  told.add(what);
  tell();
}

/** Says things with the seconds that have passed since it was made. */
function stopwatch() {
  const begun = performance.now();
  return (text) => say(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ${text}`);
}

/** The end of an id tells jobs apart. */
function short(id) {
  return `…${id.slice(-6)}`;
}

function chapter(title) {
  say(`\n── ${title}`);
}

function say(line) {
  process.stdout.write(`${line}\n`);
}
