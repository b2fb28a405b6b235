/** How fast jobs are taken in: in bulk, and one by one against a bare route in the same run. */
import autocannon from 'autocannon';

const BATCH = 1_000;
const CONNECTIONS = 50;
const ROUND_SECONDS = 2;

/** A payload of 200 bytes, as the comparisons of job queues use. */
const PAYLOAD = { text: 'x'.repeat(189) };
/** A queue that nobody serves here, so that the intake alone is measured and no worker beside it. */
const JOB = { type: 'demo.echo', queue: 'bench', payload: PAYLOAD };

/** Batches one after another on `lanes` connections at once. Returns jobs per second. */
export async function submitInBulk(url, { jobs, lanes = 2 }) {
  const body = JSON.stringify({ mode: 'atomic', jobs: Array.from({ length: BATCH }, () => JOB) });
  let left = jobs / BATCH;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const reply = await post(`${url}/jobs/batch`, body);
      if (reply.status !== 201) throw new Error(`A batch was answered ${reply.status}: ${await reply.text()}`);
      await reply.arrayBuffer();
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: lanes }, lane));
  return jobs / ((performance.now() - started) / 1_000);
}

/** Single submits on 50 connections. Returns requests per second and the 99th percentile of their latency in ms. */
export async function submitOneByOne(url, { seconds = ROUND_SECONDS, path = '/jobs' } = {}) {
  const result = await autocannon({
    url: `${url}${path}`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(JOB),
    connections: CONNECTIONS,
    duration: seconds,
  });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} refused, ${result.errors} failed`);
  return { perSecond: result['2xx'] / result.duration, p99Ms: result.latency.p99 };
}

function post(url, body) {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}
