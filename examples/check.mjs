/**
 * `npm run examples`: proves that `examples/handlers` works for a stranger. Packs the SDK, installs it into a copy of the
 * package outside the repository, type-checks and builds the copy, and lets a standalone Deadman run one job of each kind.
 * The SQL beside the handlers is run, too, and what guides show of all that is compared with it.
 * Exits with 1 when anything does not work, and shows what the service said.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ensureBuilt } from '../tools/build-all.mjs';
import { packSdk } from '../tools/pack-sdk.mjs';
import { endWhenTold, startChild } from '../tools/signals.mjs';
import { NODE, ROOT, projectEnv } from '../tools/workspace.mjs';

/** How long the service may take to start, and a job to end. Milliseconds: bounds against hanging, not measurements. */
const READY_WITHIN_MS = 120_000;
const JOB_WITHIN_MS = 60_000;

/** What is handed in, and what has to come of it. */
const JOBS = [
  {
    type: 'email.send',
    payload: { to: 'ada@example.com', subject: 'Hello' },
    ends: ({ state, result }) => state === 'succeeded' && result.messageId === 'msg-1',
  },
  {
    type: 'email.send',
    payload: { to: 'ada@busy.example', subject: 'Snoozes once' },
    ends: ({ state, attempt, failures }) => state === 'succeeded' && attempt === 2 && failures === 0,
  },
  {
    type: 'email.send',
    payload: { to: 'ada@unknown.example', subject: 'Is given up' },
    ends: ({ state, lastError }) => state === 'dead' && lastError.message === 'ada@unknown.example does not exist',
  },
  {
    type: 'email.send',
    payload: { to: 'no address', subject: 'Does not fit' },
    ends: ({ state, lastError }) => state === 'dead' && lastError.code === 'payload-invalid',
  },
  {
    type: 'report.build',
    payload: { title: 'Sales', pages: 3 },
    ends: ({ state, result }) => state === 'succeeded' && result.pages === 3,
  },
  {
    type: 'invoice.remind',
    payload: { invoice: '17', to: 'bob@example.com', isPaid: false },
    ends: ({ state, result }) => state === 'succeeded' && result.answer === 'accepted',
  },
  {
    type: 'invoice.remind',
    payload: { invoice: '18', to: 'bob@example.com', isPaid: true },
    ends: ({ state }) => state === 'cancelled',
  },
  {
    type: 'money.transfer',
    payload: { from: 'ada', to: 'bob', cents: 2_500, receiptTo: 'ada@example.com' },
    ends: ({ state, result }) => state === 'succeeded' && result.emailJob.length === 36,
  },
  {
    type: 'money.transfer',
    payload: { from: 'ada', to: 'bob', cents: 1_000_000, receiptTo: 'ada@example.com' },
    ends: ({ state, lastError }) => state === 'dead' && lastError.message === 'ada has less than 1000000 cents',
  },
  {
    type: 'order.ship',
    payload: { order: '17', to: 'bob@example.com' },
    ends: ({ state, result }) => state === 'succeeded' && result.trackingNumber === 'parcel-1',
  },
];

const folder = mkdtempSync(join(tmpdir(), 'deadman-examples-'));
try {
  checkGuides();
  await ensureBuilt();
  const handlers = await installCopy(folder);
  await withStandalone({ folder, handlers }, async (url) => {
    await withDatabase(folder, (database) => database.query(sqlOf('create-accounts')));
    for (const job of JOBS) await runJob(url, job);
    await withDatabase(folder, (database) => checkSql(url, database));
  });
  process.stdout.write(
    `examples: ${JOBS.length} jobs of examples/handlers ended as they should, and what its SQL handed in\n`,
  );
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A stranger has the package and the tarball, and nothing of this repository. */
async function installCopy(into) {
  const tarball = await packSdk(into);
  const copy = join(into, 'jobs');
  const isWritten = (path) => !['node_modules', 'dist'].includes(basename(path));
  cpSync(join(ROOT, 'examples', 'handlers'), copy, { recursive: true, filter: isWritten });
  npm(copy, 'install', tarball, '--no-audit', '--no-fund', '--loglevel=error');
  npm(copy, 'run', 'build', '--silent');
  return copy;
}

function npm(cwd, ...args) {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', env: projectEnv() });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stdout}${stderr}`);
}

async function withStandalone({ folder: data, handlers }, use) {
  const [port, managementPort] = [await freePort(), await freePort()];
  const child = startChild(NODE, [join(ROOT, 'apps', 'standalone', 'dist', 'main.js')], {
    cwd: data,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'test',
      PORT: String(port),
      MANAGEMENT_PORT: String(managementPort),
      DEADMAN_DATA_DIR: join(data, 'data'),
      DEADMAN_HANDLERS: handlers,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    await removeDatabase(join(data, 'data'));
  };
  endWhenTold(() => stop().finally(() => rmSync(data, { recursive: true, force: true })));
  try {
    await ready(`http://127.0.0.1:${managementPort}/health/ready`, ended);
    await use(`http://127.0.0.1:${port}`);
  } catch (error) {
    throw new Error(`${error.message}\nThe service said:\n${Buffer.concat(said).toString()}`, { cause: error });
  } finally {
    await stop();
  }
}

async function ready(url, ended) {
  let hasEnded = false;
  void ended.then(() => (hasEnded = true));
  await until(READY_WITHIN_MS, 'The service did not become ready.', async () => {
    if (hasEnded) throw new Error('The service ended instead of becoming ready.');
    const answer = await fetch(url).catch(() => null);
    return answer?.ok === true;
  });
}

/** A block of code that follows a link to one of these files has to stand in it, but for its indentation. */
function checkGuides() {
  const guides = join(ROOT, 'docs', 'guides');
  const block = /\]\(\.\.\/\.\.\/(examples\/[^)]+)\):\n\n```\w+\n([^]*?)```/g;
  for (const name of readdirSync(guides)) {
    for (const [, file, code] of readFileSync(join(guides, name), 'utf8').matchAll(block)) {
      const stands = withoutIndent(readFileSync(join(ROOT, file), 'utf8')).includes(withoutIndent(code));
      if (!stands) throw new Error(`docs/guides/${name} shows what does not stand in ${file}:\n${code}`);
    }
  }
}

function withoutIndent(code) {
  return code.replaceAll(/^ +/gm, '');
}

function sqlOf(name) {
  return readFileSync(join(ROOT, 'examples', 'handlers', 'sql', `${name}.sql`), 'utf8');
}

/** The jobs' database, as a program that is not Deadman sees it. */
async function withDatabase(data, use) {
  const { startEmbeddedPostgres } = await import('../libs/embedded-postgres/dist/index.js');
  const { url } = await startEmbeddedPostgres({ dataDir: join(data, 'data', 'postgres') });
  const database = new pg.Client({ connectionString: url });
  await database.connect();
  try {
    return await use(database);
  } finally {
    await database.end();
  }
}

/** The emails that were handed in by a handler and by SQL were sent, and the money is where it should be. */
async function checkSql(url, database) {
  await database.query(sqlOf('order-by-sql'));
  const sent = async () => {
    const { items } = await (await fetch(`${url}/jobs?type=email.send&state=succeeded`)).json();
    return items.map(({ payload }) => payload.subject);
  };
  await until(JOB_WITHIN_MS, 'The emails that SQL and a handler have handed in were not sent.', async () => {
    const subjects = await sent();
    return subjects.includes('You have paid bob') && subjects.includes('You have spent 5.00');
  });
  const { rows } = await database.query('SELECT owner, cents::int FROM acme.accounts ORDER BY owner');
  const accounts = JSON.stringify(rows);
  if (accounts !== '[{"owner":"ada","cents":7000},{"owner":"bob","cents":2500}]') {
    throw new Error(`The money is not where it should be: ${accounts}`);
  }
}

async function runJob(url, { type, payload, ends }) {
  const answer = await fetch(`${url}/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type, payload }),
  });
  let job = await answer.json();
  if (answer.status !== 201) throw new Error(`POST /jobs answered ${answer.status}: ${JSON.stringify(job)}`);
  const isOver = async () => {
    job = await (await fetch(`${url}/jobs/${job.id}`)).json();
    return ['succeeded', 'dead', 'cancelled'].includes(job.state);
  };
  await until(JOB_WITHIN_MS, `A job of ${type} did not end.`, isOver);
  if (!ends(job)) throw new Error(`A job of ${type} did not end as it should: ${JSON.stringify(job, null, 2)}`);
}

async function until(withinMs, complaint, isDone) {
  const deadline = performance.now() + withinMs;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error(complaint);
    await sleep(50);
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The database may have been put outside the folder, where its account can reach it. */
async function removeDatabase(dataDir) {
  const { startEmbeddedPostgres } = await import('../libs/embedded-postgres/dist/index.js');
  await (await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') })).destroy();
}
