import { isTerminal } from '@deadman/domain';
import type { Clock, Job } from '@deadman/domain';
import { MemoryDatabase } from '@deadman/store';

export interface DatabaseObserver {
  /** A row is about to change. `before` is undefined for a new one. */
  onChange(before: Job | undefined, after: Job): void;
  /** The call that changed rows is over, and all that belongs to one transaction is written. */
  onCommit(): void;
}

/** What a replica has. */
export interface Snapshot {
  readonly jobs: readonly Job[];
  readonly attempts: MemoryDatabase['attempts'];
  readonly keys: MemoryDatabase['keys'];
  readonly outbox: MemoryDatabase['outbox'];
  readonly effects: MemoryDatabase['effects'];
  readonly progress: MemoryDatabase['progress'];
  readonly workers: MemoryDatabase['workers'];
  readonly deadLetters: MemoryDatabase['deadLetters'];
  readonly unrecorded: MemoryDatabase['unrecorded'];
  readonly watch: MemoryDatabase['watch'];
}

/** A database whose every change is looked at as it happens, and which can be set back to an earlier moment. */
export class ObservedDatabase extends MemoryDatabase {
  readonly #observer: DatabaseObserver;
  #hasChanged = false;

  constructor(clock: Pick<Clock, 'now'>, observer: DatabaseObserver) {
    super(clock);
    this.#observer = observer;
  }

  override put(job: Job): void {
    this.#observer.onChange(this.jobs.get(job.id), job);
    super.put(job);
    if (this.#hasChanged) return;
    this.#hasChanged = true;
    // A call changes its rows without a pause, so the next microtask comes after all of them.
    queueMicrotask(() => {
      this.#hasChanged = false;
      this.#observer.onCommit();
    });
  }

  snapshot(): Snapshot {
    return {
      jobs: [...this.jobs.values()],
      attempts: new Map(this.attempts),
      keys: new Map(this.keys),
      outbox: new Map(this.outbox),
      effects: new Map([...this.effects].map(([jobId, keys]) => [jobId, new Set(keys)])),
      progress: new Map(this.progress),
      workers: new Map(this.workers),
      deadLetters: new Map(this.deadLetters),
      unrecorded: new Map(this.unrecorded),
      watch: this.watch,
    };
  }

  /** What was committed since then never happened. */
  restore(snapshot: Snapshot): void {
    for (const job of this.jobs.values()) this.remove(job);
    for (const job of snapshot.jobs) super.put(job);
    refill(this.attempts, snapshot.attempts);
    refill(this.keys, snapshot.keys);
    refill(this.outbox, snapshot.outbox);
    refill(this.effects, snapshot.effects);
    refill(this.progress, snapshot.progress);
    refill(this.workers, snapshot.workers);
    refill(this.deadLetters, snapshot.deadLetters);
    refill(this.unrecorded, snapshot.unrecorded);
    this.watch = snapshot.watch;
  }

  get openJobs(): readonly Job[] {
    return [...this.jobs.values()].filter(({ state }) => !isTerminal(state));
  }

  /** Whether some job has not ended; cheaper than asking which. */
  get hasOpenJobs(): boolean {
    return this.pending.size + this.waiting.size + this.running.size > 0;
  }
}

function refill<Key, Value>(target: Map<Key, Value>, source: ReadonlyMap<Key, Value>): void {
  target.clear();
  for (const [key, value] of source) target.set(key, value);
}
