import { isTerminal } from '@deadman/domain';
import type { AttemptRow, Evidence, JobRow, Terms } from './evidence.js';
import { attemptKey } from './history.js';
import { distinct, strataHit } from './measures.js';
import type { Measures } from './measures.js';

/** One rule, by name. What it finds are sentences, one per breach; none means that it holds. */
export interface Check {
  readonly name: string;
  /** What it holds the run against, and the invariant of `faults.md` that it stands for. */
  readonly promise: string;
  /** Whether it depends on how fast the machine is, and on what else it does. */
  readonly isOfSpeed?: true;
  readonly find: (evidence: Evidence, measures: Measures) => readonly string[];
}

const check = (name: string, promise: string, find: Check['find']): Check => ({ name, promise, find });

/** Hold in every scenario. */
export const CHECKS: readonly Check[] = [
  check('nothing-lost', 'G1: every accepted job has ended', ({ accepted, jobs }) =>
    accepted.flatMap((id) => {
      const job = jobs.get(id);
      if (job === undefined) return [`${id} was accepted, and is not in the database`];
      return isTerminal(job.state) ? [] : [`${id} was accepted, and is ${job.state}`];
    }),
  ),

  check('fired-once-by-table', 'G2: no job has two lines in the ledger table', ({ ledger }) =>
    [...ledger].flatMap(([id, firings]) => (firings.length > 1 ? [`${id} fired ${firings.length} times`] : [])),
  ),

  check('fired-once-by-sink', 'G2: no job has two firings in the sink outside the database', ({ sink }) =>
    [...sink].flatMap(([id, firings]) =>
      distinct(firings).size > 1 ? [`${id} told of ${distinct(firings).size} firings`] : [],
    ),
  ),

  check(
    'success-has-fired',
    'G2: a job that succeeded fired once, and both counters name the same firing',
    (evidence) =>
      effectful(evidence).flatMap((id) => {
        const [inTable, inSink] = [evidence.ledger.get(id) ?? [], [...distinct(evidence.sink.get(id))]];
        return inTable.length === 1 && inSink.length === 1 && inTable[0] === inSink[0]
          ? []
          : [`${id} succeeded; the table has ${inTable.join() || 'nothing'}, the sink ${inSink.join() || 'nothing'}`];
      }),
  ),

  check(
    'an-end-is-the-end',
    'G3: nothing runs after a job has ended, and it is what its last attempt made of it',
    (evidence) =>
      [...evidence.jobs.values()].flatMap(({ id, state }) => {
        const rows = evidence.attempts.get(id) ?? [];
        const end = rows.findIndex(({ outcome }) => outcome === 'succeeded' || outcome === 'cancelled');
        if (end !== -1 && end < rows.length - 1) return [`${id} was run again after it had ended`];
        const hasSucceeded = rows.at(-1)?.outcome === 'succeeded';
        return (state === 'SUCCEEDED') === hasSucceeded ? [] : [`${id} is ${state} after ${rows.at(-1)?.outcome}`];
      }),
  ),

  check(
    'attempts-rise',
    'G4: each claim has a higher attempt than the one before, and no attempt is given twice',
    (evidence) => [...numberedTwice(evidence), ...outOfOrder(evidence)],
  ),

  check(
    'dead-for-a-reason',
    'G5: DEAD means failures, the crash or snooze budget, or an error that is not retried',
    (evidence) =>
      [...evidence.jobs.values()].flatMap((job) =>
        job.state !== 'DEAD' || mayBeDead(job, evidence) ? [] : [`${job.id} is DEAD after ${JSON.stringify(job)}`],
      ),
  ),

  check('failures-are-the-handlers-own', 'a job has as many failures as attempts that its handler failed', (evidence) =>
    [...evidence.jobs.values()].flatMap(({ id, failures }) => {
      const rows = evidence.attempts.get(id) ?? [];
      const failed = rows.filter(({ outcome }) => outcome === 'failed').length;
      // A run with a cancel asked that fails ends cancelled, and its failure is counted all the same.
      const most = failed + rows.filter(({ outcome }) => outcome === 'cancelled').length;
      return failures >= failed && failures <= most ? [] : [`${id}: ${failures} failures, ${failed} attempts failed`];
    }),
  ),

  check(
    'one-outcome-each',
    'G6: of all processes one at most was told that its outcome of an attempt stands',
    ({ history }) => {
      const told = new Map<string, number>();
      for (const { jobId, attempt } of history.endings) {
        const key = attemptKey(jobId, attempt);
        told.set(key, (told.get(key) ?? 0) + 1);
      }
      return [...told].flatMap(([key, count]) => (count > 1 ? [`${key}: ${count} outcomes were accepted`] : []));
    },
  ),

  check(
    'settled-by-its-claim',
    'G6: an outcome was written with the token of the latest claim, and is the one that stands',
    (evidence) => settledByOthers(evidence),
  ),

  check(
    'histories-are-whole',
    'every success in the database was claimed and started by a process that wrote it down',
    (evidence) => {
      const { attempts, history } = evidence;
      const started = new Set(history.starts.map(({ jobId, attempt }) => attemptKey(jobId, attempt)));
      return [...attempts.values()].flatMap((rows) =>
        rows.flatMap(({ jobId, attempt, outcome }) =>
          outcome === 'succeeded' && !started.has(attemptKey(jobId, attempt))
            ? [`${jobId} succeeded at attempt ${attempt}, which nobody started`]
            : [],
        ),
      );
    },
  ),

  check('refusals-say-what-to-do', 'G7: no 5xx without a problem that is marked as retryable', ({ refusals }) =>
    refusals.flatMap(({ status, code, retryable }) =>
      status >= 500 && retryable !== true ? [`${status} ${code ?? 'without a code'}, retryable: ${retryable}`] : [],
    ),
  ),

  check('nothing-left-over', 'G8: the outbox is empty, and no job is overdue', ({ left }) => [
    ...(left.outbox > 0 ? [`${left.outbox} rows are left in the outbox`] : []),
    ...(left.overdue > 0 ? [`${left.overdue} jobs are ready or due, and nobody runs them`] : []),
  ]),

  check('every-death-has-its-letter', 'one dead letter for each job that is DEAD', ({ jobs, letters }) => {
    const told = new Set(letters);
    const dead = [...jobs.values()].filter(({ state }) => state === 'DEAD');
    return dead.flatMap(({ id, attempt }) => (told.has(attemptKey(id, attempt)) ? [] : [`${id} has no dead letter`]));
  }),

  check(
    'ended-in-time',
    'G9: everything has ended within 4 × TTL + 90 s and its own runs after the last fault',
    ({ ending }) => (ending.inTime ? [] : [`not within ${Math.round(ending.limitMs / 1_000)} s`]),
  ),
];

/** Hold where executions are interrupted by kills on purpose. */
export const STORM_CHECKS: readonly Check[] = [
  {
    name: 'kill-rate-reached',
    promise: 'enough of the started executions were ended by a SIGKILL',
    // Workers that start slowly are killed less often; that there was a storm is told by the two checks that follow.
    isOfSpeed: true,
    find: ({ terms }, { killRate }) =>
      terms.killRate === null || killRate >= terms.killRate ? [] : [`${killRate.toFixed(3)} of ${terms.killRate}`],
  },
  check('every-stratum-hit', 'workers died at each of the named places', (_evidence, { killsByStratum }) =>
    strataHit(killsByStratum).flatMap(([stratum, count]) => (count === 0 ? [`none died at ${stratum}`] : [])),
  ),
  check(
    'runs-were-repeated',
    'there were duplicate runs, without which the zeros would mean nothing',
    (_evidence, measures) => (measures.duplicateRuns > 0 ? [] : ['nothing ran twice']),
  ),
  check('none-is-dead', 'no healthy job is DEAD', ({ jobs }) =>
    [...jobs.values()].flatMap(({ id, state }) => (state === 'DEAD' ? [`${id} is DEAD`] : [])),
  ),
  {
    name: 'recovered-in-time',
    promise: 'kill → next start, outside quarantine: the 99th percentile is within its bound',
    isOfSpeed: true,
    find: ({ terms }, { recovery }) => {
      const bound = terms.recoveryP99Ms;
      return bound === null || (recovery.p99 ?? 0) <= bound ? [] : [`${recovery.p99} ms of ${bound} ms`];
    },
  },
];

/** Jobs that succeeded and that have an effect to show: those of a run whose handlers fire. */
function effectful({ jobs, ledger, sink }: Evidence): readonly string[] {
  if (ledger.size === 0 && sink.size === 0) return [];
  return [...jobs.values()].flatMap(({ id, state }) => (state === 'SUCCEEDED' ? [id] : []));
}

/** The claims that processes wrote down, and those that only the database knows of, because their process died at once. */
function numberedTwice({ history, attempts }: Evidence): readonly string[] {
  const tokens = new Map<string, string>();
  const told: string[] = [];
  const note = (jobId: string, attempt: number, token: string): void => {
    const key = attemptKey(jobId, attempt);
    const known = tokens.get(key);
    if (known !== undefined && known !== token) told.push(`${key} was claimed as ${known} and as ${token}`);
    tokens.set(key, token);
  };
  for (const { jobId, attempt, token } of history.claims) note(jobId, attempt, token);
  for (const rows of attempts.values()) for (const { jobId, attempt, token } of rows) note(jobId, attempt, token);
  return told;
}

function outOfOrder({ attempts, jobs }: Evidence): readonly string[] {
  return [...attempts].flatMap(([id, rows]) => {
    const complaints = rows.slice(1).flatMap((row, index) => outOfOrderAfter(rows[index]!, row));
    const last = rows.at(-1)?.attempt ?? 0;
    const job = jobs.get(id);
    if (job !== undefined && job.attempt < last) complaints.push(`${id} is at attempt ${job.attempt}, and had ${last}`);
    return complaints;
  });
}

function outOfOrderAfter(before: AttemptRow, row: AttemptRow): string[] {
  const { jobId, attempt, claimedAtMs } = row;
  if (before.attempt + 1 !== attempt) return [`${jobId}: ${attempt} came after ${before.attempt}`];
  return before.finishedAtMs > claimedAtMs
    ? [`${jobId}: ${attempt} was claimed before ${before.attempt} had ended`]
    : [];
}

/** Which life claimed an attempt is told by its history; with which token it stands is told by the database. */
function settledByOthers({ history, attempts }: Evidence): readonly string[] {
  const claimed = new Map(
    history.claims.map((claim) => [`${attemptKey(claim.jobId, claim.attempt)} ${lifeKey(claim)}`, claim]),
  );
  const standing = new Map<string, AttemptRow>();
  for (const rows of attempts.values()) for (const row of rows) standing.set(attemptKey(row.jobId, row.attempt), row);
  return history.endings.flatMap((ending) => {
    const key = attemptKey(ending.jobId, ending.attempt);
    const row = standing.get(key);
    if (row === undefined) return [`${key} ended ${ending.outcome}, and the database knows nothing of it`];
    if (row.outcome !== ending.outcome) return [`${key} ended ${ending.outcome}, and stands as ${row.outcome}`];
    const claim = claimed.get(`${key} ${lifeKey(ending)}`);
    return claim === undefined || claim.token === row.token
      ? []
      : [`${key} was settled with ${row.token}, not ${claim.token}`];
  });
}

function lifeKey({ life }: { readonly life: { readonly instance: string; readonly number: number } }): string {
  return `${life.instance}.${life.number}`;
}

function mayBeDead(job: JobRow, { terms, attempts }: Evidence): boolean {
  const last = attempts.get(job.id)?.at(-1);
  return (
    job.failures >= job.maxAttempts ||
    isCrashLoop(job, terms) ||
    job.snoozes > terms.maxSnoozes ||
    last?.reason === 'non-retryable'
  );
}

/** Only lapses while alone count, and no job is alone before the lapse that sends it to quarantine. */
function isCrashLoop({ crashes, lapses }: JobRow, { quarantineFrom, crashBudget }: Terms): boolean {
  return crashes >= crashBudget && lapses >= quarantineFrom + crashBudget;
}
