import type { Stage } from '../run/stage.js';
import { SURROUNDINGS, workerNames } from './scenario.js';
import type { Scenario } from './scenario.js';

const KEYS = 1_000;
const CLIENTS = 50;

/** Share of the requests that have another body under the same key. */
const OTHER_BODY = 0.1;

const RUN_MS = 50;

const JOBS = `SELECT count(*)::integer AS count FROM deadman.jobs`;

/** What clients were told of one key. */
interface Told {
  readonly ids: Set<string>;
  readonly statuses: number[];
  /** Requests with another body that were not told so. */
  silent: number;
}

export const idempotencyStorm: Scenario = {
  name: 'idempotency-storm',
  number: 30,
  title: 'fifty clients hand in jobs under the same thousand keys, one in ten with another body, at two apis',
  fleet: ({ workers }) => [
    ...SURROUNDINGS,
    ['api', 'api-2'],
    ...workerNames(workers).map((name) => ['worker', name] as const),
  ],
  async act(stage) {
    const keys = Array.from({ length: stage.scaled(KEYS, 100) }, (_, index) => `key-${stage.seed}-${index}`);
    const told = new Map<string, Told>(keys.map((key) => [key, { ids: new Set(), statuses: [], silent: 0 }]));
    stage.say(`${CLIENTS} clients, ${keys.length} keys`);
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => handIn(stage, client, keys, told)));
    stage.ledger.add([...told.values()].flatMap(({ ids }) => [...ids]));
    const { count } = await stage.site.sql.row<{ count: number }>(JOBS);
    judgeKeys(stage, told, count);
  },
};

async function handIn(stage: Stage, client: number, keys: readonly string[], told: Map<string, Told>): Promise<void> {
  const dice = stage.dice(`client ${client}`);
  for (const key of dice.shuffle(keys)) {
    if (stage.stop.aborted) return;
    const isOther = dice.next() < OTHER_BODY;
    await askUntilAnswered(stage, key, isOther ? { ms: RUN_MS, other: true } : { ms: RUN_MS }, told.get(key)!);
  }
}

async function askUntilAnswered(stage: Stage, key: string, payload: object, told: Told): Promise<void> {
  const request = { type: 'chaos.fire', queue: stage.site.queue, payload };
  for (;;) {
    const answer = await stage.client.send('POST', '/jobs', request, { 'idempotency-key': key });
    if (answer?.ok === true) {
      const { id, payload: original } = (await answer.json()) as { id: string; payload: object };
      told.ids.add(id);
      told.statuses.push(answer.status);
      const isOther = JSON.stringify(original) !== JSON.stringify(payload);
      if (isOther !== answer.headers.has('idempotency-mismatch')) told.silent += 1;
      return;
    }
    await answer?.arrayBuffer();
    if (stage.stop.aborted) return;
    await stage.pause(100);
  }
}

function judgeKeys(stage: Stage, told: ReadonlyMap<string, Told>, jobs: number): void {
  const all = [...told];
  stage.figures['requests'] = all.reduce((sum, [, { statuses }]) => sum + statuses.length, 0);
  const several = all.flatMap(([key, { ids }]) => (ids.size === 1 ? [] : [`${key} became ${ids.size} jobs`]));
  const rows = jobs === told.size ? [] : [`the database has ${jobs} jobs for ${told.size} keys`];
  stage.find('one-job-per-key', 'all clients of a key are told of the same job, and there is no other', [
    ...several,
    ...rows,
  ]);
  const created = all.flatMap(([key, { statuses }]) => {
    const count = statuses.filter((status) => status === 201).length;
    return count === 1 ? [] : [`${key} was created ${count} times`];
  });
  stage.find('one-creator-per-key', 'one client is answered with 201, and all others with 200', created);
  const silent = all.flatMap(([key, { silent: count }]) => (count > 0 ? [`${key}: ${count} answers`] : []));
  stage.find('other-bodies-are-told', 'who sent another body is told so, and nobody else', silent);
}
