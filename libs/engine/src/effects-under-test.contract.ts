import type { ClaimedJob, EffectStore, Job, JobStore } from '@deadman/domain';
import { MemoryDatabase, MemoryEffectStore, MemoryJobStore } from '@deadman/store';
import { aLapse, aSubmission, FakeClock, FixedRandom, RecordingEvents, SequenceIds } from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import { Publisher } from './publisher.js';
import { makeRunEffects } from './run-effects.js';
import type { RunEffects } from './run-effects.js';
import { Run } from './run.js';
import { withFaults } from './with-faults.contract.js';
import type { CallFault } from './with-faults.contract.js';

/** What runs of jobs do effectively once, over the stores in memory. */
export class EffectsUnderTest {
  readonly clock = new FakeClock();
  readonly events = new RecordingEvents();
  readonly db = new MemoryDatabase(this.clock);
  readonly store: JobStore = new MemoryJobStore(this.db);
  readonly #transport = new MemoryTransport(this.clock);
  readonly #publisher = new Publisher({
    transport: this.#transport,
    store: this.store,
    clock: this.clock,
    events: this.events,
  });
  readonly #ids = new SequenceIds(this.clock);
  /** What goes wrong with calls of a method of the effect store, first fault first. */
  readonly faults: Partial<Record<string, CallFault[]>> = {};
  /** Whether runs may still fire, and what happens when they ask. */
  mayFire: (run: Run) => boolean | Promise<boolean> = (run) => run.phase === 'running' && !run.isLost;

  /** A run of a new job, in the middle of its handler. */
  async start(overrides: Partial<Job> = {}): Promise<Run> {
    const { results } = await this.store.submit([aSubmission({ id: this.#ids.timeOrdered(), ...overrides })]);
    return this.#run(results[0]!.job.id);
  }

  /** A reaper takes the job from its run, and another worker runs it. */
  async takeOver({ job }: Run): Promise<Run> {
    await this.lapse(job);
    return this.#run(job.id);
  }

  async lapse(job: ClaimedJob): Promise<void> {
    await this.store.apply([aLapse(job)]);
  }

  /** @param commitEffect in place of the store's own. */
  effectsOf(run: Run, commitEffect?: EffectStore['commitEffect']): RunEffects {
    const store = new MemoryEffectStore(this.db);
    if (commitEffect !== undefined) store.commitEffect = commitEffect;
    return makeRunEffects(run, {
      store: withFaults(store, (method) => this.faults[method]?.shift() ?? null),
      guard: { mayFire: async (asking) => this.mayFire(asking) },
      publisher: this.#publisher,
      ids: this.#ids,
      clock: this.clock,
      random: new FixedRandom(),
      events: this.events,
    });
  }

  /** What the statements of committed transactions said. */
  fired(): readonly unknown[] {
    return this.db.statements.map(({ values }) => values[0]);
  }

  async #run(id: string): Promise<Run> {
    const token = this.#ids.random();
    const claim = { token, workerId: this.#ids.random(), types: ['demo.echo'], quarantineFrom: 7 };
    const [job] = await this.store.claim({ ...claim, ids: [id] });
    const run = new Run(job!, this.clock.monotonicMs());
    run.phase = 'running';
    return run;
  }
}
