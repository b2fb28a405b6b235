import { isDeepStrictEqual } from 'node:util';
import { Transition, transition } from '@deadman/domain';
import type { ClaimedJob, JobEvent, JobStore, JobView, OutboxEntry, Rules, Submission } from '@deadman/domain';
import { aJobSpec, anAttemptError, aSubmission, aSubmissionDueIn, FixedRandom } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { endOf, MODEL_ATTEMPTS, MODEL_LIMITS, outcomeOf, StoreModel } from './store-model.contract.js';
import type { ModelJob } from './store-model.contract.js';
import { anIdleClaim, aTicketClaim, outboxRows, told } from './store-under-test.contract.js';
import type { OpenStore, StoreUnderTest } from './store-under-test.contract.js';

const RULES: Rules = { limits: MODEL_LIMITS, random: new FixedRandom() };
/** Longer than any delay of the model. Milliseconds. */
const TICK_MS = 61_000;
const RETRY = { kind: 'fixed', baseMs: 60_000 } as const;

/** The store, and what its callers remember of it: every claim they got, and how each job once looked. */
interface Real {
  readonly under: StoreUnderTest;
  readonly claims: ClaimedJob[];
  readonly views: JobView[];
}

type Command = fc.AsyncCommand<StoreModel, Real>;

/** A command that can always be tried; what it chooses from may be empty, and then it does nothing. */
abstract class Step implements Command {
  check(): boolean {
    return true;
  }

  async run(model: StoreModel, real: Real): Promise<void> {
    await this.act(model, real);
    await expectSame(model, real);
  }

  protected abstract act(model: StoreModel, real: Real): Promise<void>;

  /** What a failure shows. */
  toString(): string {
    return `${this.constructor.name}${JSON.stringify(this)}`;
  }
}

class Submit extends Step {
  constructor(readonly jobs: readonly { readonly key: number | null; readonly isLater: boolean }[]) {
    super();
  }

  protected async act(model: StoreModel, { under }: Real): Promise<void> {
    const batch = this.jobs.map(({ key, isLater }): Submission => {
      const spec = aJobSpec({
        retry: RETRY,
        maxAttempts: MODEL_ATTEMPTS,
        idempotencyKey: key === null ? null : `key ${key}`,
      });
      return isLater ? aSubmissionDueIn(60_000, spec) : aSubmission(spec);
    });
    const expected = batch.map(({ job }, index) => {
      const holder = job.idempotencyKey === null ? undefined : model.ofKey(job.idempotencyKey);
      if (holder !== undefined) return { kind: 'replayed', id: holder.id };
      return { kind: 'created', id: model.add(job.id, job.idempotencyKey, this.jobs[index]!.isLater).id };
    });
    model.tell(model.jobs.filter(({ id }) => batch.some(({ job }) => job.id === id)));
    const { results } = await under.store.submit(batch);
    expect(results.map(({ kind, job: { id } }) => ({ kind, id }))).toEqual(expected);
  }
}

class ClaimByTicket extends Step {
  constructor(readonly picks: readonly number[]) {
    super();
  }

  protected async act(model: StoreModel, real: Real): Promise<void> {
    const ids = [...new Set(this.picks.flatMap((pick) => pickFrom(model.jobs, pick)?.id ?? []))];
    const request = aTicketClaim(ids, { quarantineFrom: MODEL_LIMITS.quarantineFrom });
    const wanted = model.jobs.filter((job) => ids.includes(job.id) && model.isClaimable(job, false));
    for (const job of wanted) model.claim(job, request.token, false);
    const claimed = await real.under.store.claim(request);
    expect(idsOf(claimed)).toEqual(idsOf(wanted));
    real.claims.push(...claimed);
  }
}

class ClaimIdle extends Step {
  constructor(
    readonly limit: number,
    readonly alone: boolean,
  ) {
    super();
  }

  protected async act(model: StoreModel, real: Real): Promise<void> {
    const { limit, alone } = this;
    const request = anIdleClaim({ limit, alone, quarantineFrom: MODEL_LIMITS.quarantineFrom });
    const wanted = model.jobs.filter((job) => model.isClaimable(job, alone)).slice(0, limit);
    for (const job of wanted) model.claim(job, request.token, alone);
    const claimed = await real.under.store.claimIdle(request);
    expect(idsOf(claimed)).toEqual(idsOf(wanted));
    expect(claimed.every(({ claim }) => claim.alone === alone)).toBe(true);
    real.claims.push(...claimed);
  }
}

/** A run's end, or a reaper's, by any claim that was ever given: most of them are over, and their writes come too late. */
class EndClaim extends Step {
  constructor(
    readonly pick: number,
    readonly event: JobEvent,
  ) {
    super();
  }

  protected async act(model: StoreModel, { under, claims }: Real): Promise<void> {
    const claim = pickFrom(claims, this.pick);
    if (claim === undefined) return;
    const job = model.jobs.find(({ id }) => id === claim.id)!;
    const expected = this.#expected(model, job, claim);
    const { results } = await under.store.apply([decided(claim, this.event)]);
    expect(results).toEqual([expected]);
  }

  #expected(model: StoreModel, job: ModelJob, claim: ClaimedJob): object {
    if (job.token === claim.claim.token && job.attempt === claim.attempt) {
      const isByCancel = job.isCancelAsked && endOf(job, this.event)?.outcome !== 'succeeded';
      model.apply(job, this.event);
      model.tell([job]);
      return { kind: 'applied', state: job.state, by: isByCancel ? 'cancel-request' : 'decision' };
    }
    return { kind: this.#hasEndedSo(job, claim) ? 'already' : 'fenced' };
  }

  /** The history says that this claim ended before, and by a write like this one. */
  #hasEndedSo(job: ModelJob, claim: ClaimedJob): boolean {
    const end = job.ends.get(claim.attempt);
    const reclaimedBy = this.event.kind === 'lapse' ? this.event.reclaimedBy : null;
    const { outcome, reason } = outcomeOf({ ...claim, isAlone: claim.claim.alone }, this.event);
    const mayBe = outcome === 'succeeded' ? [outcome] : [outcome, 'cancelled'];
    if (end === undefined || end.token !== claim.claim.token) return false;
    return mayBe.includes(end.outcome) && end.reason === reason && end.reclaimedBy === reclaimedBy;
  }
}

/** What a person asks for, by how the job looks now or by how it once looked. */
class Ask extends Step {
  constructor(
    readonly pick: number,
    readonly what: 'cancel' | 'retry',
    readonly isByMemory: boolean,
  ) {
    super();
  }

  protected async act(model: StoreModel, real: Real): Promise<void> {
    const view = this.isByMemory ? pickFrom(real.views, this.pick) : await this.#look(model, real);
    if (view === undefined) return;
    const wanted = transition(view, { kind: this.what }, RULES);
    if (!(wanted instanceof Transition)) return;
    const job = model.jobs.find(({ id }) => id === view.id)!;
    const isFenced = job.version !== view.version;
    if (!isFenced) {
      model.apply(job, { kind: this.what });
      model.tell([job]);
    }
    const { results } = await real.under.store.apply([wanted]);
    expect(results).toEqual([isFenced ? { kind: 'fenced' } : { kind: 'applied', state: job.state, by: 'decision' }]);
  }

  async #look(model: StoreModel, { under, views }: Real): Promise<JobView | undefined> {
    const job = pickFrom(model.jobs, this.pick);
    if (job === undefined) return undefined;
    const view = (await under.store.findJob(job.id))!;
    views.push(view);
    return view;
  }
}

class Wait extends Step {
  protected async act(model: StoreModel, { under }: Real): Promise<void> {
    model.tick += 1;
    await under.elapse(TICK_MS);
  }
}

class Promote extends Step {
  constructor(readonly picks: readonly number[] | null) {
    super();
  }

  protected async act(model: StoreModel, { under }: Real): Promise<void> {
    const ids = this.picks?.flatMap((pick) => pickFrom(model.jobs, pick)?.id ?? []);
    const due = model.jobs.filter((job) => model.isDue(job) && (ids === undefined || ids.includes(job.id)));
    for (const job of due) {
      job.state = 'PENDING';
      job.version += 1;
    }
    model.tell(due);
    const { promoted } = await under.store.promoteDue(ids === undefined ? { limit: 500 } : { limit: 500, ids });
    expect(promoted).toBe(due.length);
  }
}

/** What a sender deletes once it was acknowledged; the row of a death is not his to delete. */
class DeleteOutbox extends Step {
  constructor(readonly pick: number) {
    super();
  }

  protected async act(model: StoreModel, { under }: Real): Promise<void> {
    const row = pickFrom([...(await outboxRows(under.store))].toSorted(byText), this.pick);
    if (row === undefined) return;
    if (row.kind === 'ready') model.outbox.splice(model.outbox.indexOf(told([row])[0]!), 1);
    await under.store.deleteOutbox([row.id]);
  }
}

class RecordDeath extends Step {
  constructor(
    readonly pick: number,
    readonly attempt: number,
  ) {
    super();
  }

  protected async act(model: StoreModel, { under }: Real): Promise<void> {
    const job = pickFrom(model.jobs, this.pick);
    if (job === undefined) return;
    const notice = { jobId: job.id, attempt: this.attempt };
    const death = `${job.id} ${this.attempt}`;
    const kind = this.#expected(model, job, death);
    const [recorded] = await under.store.recordDeadLetters([notice]);
    expect(recorded).toMatchObject({ ...notice, kind });
  }

  #expected(model: StoreModel, job: ModelJob, death: string): string {
    if (model.letters.has(death)) return 'already';
    if (!model.unrecorded.delete(death)) return 'unknown';
    model.letters.add(death);
    model.outbox.splice(model.outbox.indexOf(`dead ${death}`), 1);
    return job.state === 'DEAD' && job.attempt === this.attempt ? 'recorded' : 'superseded';
  }
}

/** Everything that the model says of jobs, history and outbox, held against the store. */
async function expectSame(model: StoreModel, { under: { store } }: Real): Promise<void> {
  const stored = await Promise.all(model.jobs.map(({ id }) => lookAt(store, id)));
  const said = { jobs: stored, outbox: told(await outboxRows(store)) };
  const expected = { jobs: model.jobs.map(seen), outbox: model.outbox.toSorted() };
  // A matcher for each of ten thousand histories' steps would take most of the time.
  if (!isDeepStrictEqual(said, expected)) expect(said).toEqual(expected);
}

async function lookAt(store: JobStore, id: string): Promise<object> {
  const view = (await store.findJob(id))!;
  const history = await store.listAttempts(id, { after: 0, limit: 500 });
  const ends = history
    .filter(({ outcome }) => outcome !== 'running')
    .map(({ claimToken: token, outcome, reason, reclaimedBy }) => ({ token, outcome, reason, reclaimedBy }));
  return seen({ ...view, token: view.claim?.token ?? null, isCancelAsked: view.cancelRequestedAt !== null, ends });
}

type Seen = Omit<ModelJob, 'key' | 'isAlone' | 'dueAt' | 'ends'> & { readonly ends: Iterable<unknown> };

/** What can be seen of a job from outside. */
function seen({ id, state, version, attempt, failures, lapses, lapsesInRow, crashes, snoozes, ...rest }: Seen): object {
  const { token, isCancelAsked } = rest;
  const ends = rest.ends instanceof Map ? [...rest.ends.values()] : [...rest.ends];
  const counts = { attempt, failures, lapses, lapsesInRow, crashes, snoozes };
  return { id, state, version, ...counts, token, isCancelAsked, ends };
}

function decided(claim: ClaimedJob, event: JobEvent): Transition {
  const made = transition(claim, event, RULES);
  if (made instanceof Transition) return made;
  throw new TypeError(`A claim cannot end with '${event.kind}'`);
}

function pickFrom<Item>(items: readonly Item[], pick: number): Item | undefined {
  return items.length === 0 ? undefined : items[pick % items.length];
}

function idsOf(jobs: readonly { readonly id: string }[]): readonly string[] {
  return jobs.map(({ id }) => id).toSorted();
}

function byText(one: OutboxEntry, other: OutboxEntry): number {
  return told([one])[0]!.localeCompare(told([other])[0]!);
}

const pick = fc.nat({ max: 1_000 });
const end: fc.Arbitrary<JobEvent> = fc.oneof(
  fc.constant<JobEvent>({ kind: 'succeed', result: '1', effects: [], startedAfterMs: 1 }),
  fc.boolean().map((retryable): JobEvent => ({ kind: 'fail', error: anAttemptError(), retryable, startedAfterMs: 1 })),
  fc.constant<JobEvent>({ kind: 'snooze', delayMs: 1, startedAfterMs: 1 }),
  fc.constant<JobEvent>({ kind: 'release', reason: 'shutdown', startedAfterMs: null }),
  fc.constant<JobEvent>({ kind: 'cancelled', startedAfterMs: 1 }),
);
const lapse = fc
  .constantFrom('one', 'two')
  .map((reclaimedBy): JobEvent => ({ kind: 'lapse', reason: 'lease-lapsed', reclaimedBy }));

const steps: fc.Arbitrary<Command>[] = [
  fc
    .array(fc.record({ key: fc.option(fc.nat({ max: 3 })), isLater: fc.boolean() }), { minLength: 1, maxLength: 3 })
    .map((jobs) => new Submit(jobs)),
  fc.array(pick, { minLength: 1, maxLength: 4 }).map((picks) => new ClaimByTicket(picks)),
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.boolean()).map(([limit, alone]) => new ClaimIdle(limit, alone)),
  fc.tuple(pick, end).map(([which, event]) => new EndClaim(which, event)),
  fc.tuple(pick, lapse).map(([which, event]) => new EndClaim(which, event)),
  fc
    .tuple(pick, fc.constantFrom('cancel' as const, 'retry' as const), fc.boolean())
    .map(([which, what, isByMemory]) => new Ask(which, what, isByMemory)),
  fc.constant(new Wait()),
  fc.option(fc.array(pick, { minLength: 1, maxLength: 3 })).map((picks) => new Promote(picks)),
  pick.map((which) => new DeleteOutbox(which)),
  fc.tuple(pick, fc.integer({ min: 1, max: 6 })).map(([which, attempt]) => new RecordDeath(which, attempt)),
];

export interface ModelContractOptions {
  /** How many histories are tried. */
  readonly runs: number;
  /** Longest time for all of them. Milliseconds. */
  readonly withinMs: number;
}

/** Histories of calls, made up and shrunk by fast-check, after each of which the store says what a model of the rules says. */
export function modelContract(name: string, open: OpenStore, { runs, withinMs }: ModelContractOptions): void {
  describe(`${name} against a model of the rules`, () => {
    it(
      `says what the model says after ${runs} histories`,
      async () => {
        await fc.assert(
          fc.asyncProperty(fc.commands(steps, { maxCommands: 40, size: 'max' }), async (commands) => {
            const under = await open();
            const setup = () => ({ model: new StoreModel(), real: { under, claims: [], views: [] } });
            await fc.asyncModelRun(setup, commands);
            await under.close();
          }),
          { numRuns: runs, endOnFailure: false },
        );
      },
      withinMs,
    );
  });
}
