import { isTerminal } from '@deadman/domain';
import type { Clock, Job } from '@deadman/domain';
import { MemoryDatabase } from '@deadman/store';

export interface DatabaseObserver {
  /** A row is about to change. `before` is undefined for a new one. */
  onChange(before: Job | undefined, after: Job): void;
  /** A change is about to be committed with this value, JSON text. */
  onEffectCommitted(jobId: string, value: string): void;
  /** The call that changed rows is over, and all that belongs to one transaction is written. */
  onCommit(): void;
}

/** What a replica has. */
export interface Snapshot {
  readonly jobs: readonly Job[];
  /** Every other table by its name in `MemoryDatabase`, those that are added one day included. */
  readonly tables: ReadonlyMap<string, Table>;
  readonly watch: MemoryDatabase['watch'];
}

type Table = Map<unknown, unknown> | unknown[];

/** The rows of jobs, and what is made from them. */
const FROM_JOBS = new Set(['jobs', 'running']);

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

  override recordEffect(jobId: string, key: string, value?: string): void {
    this.#observer.onEffectCommitted(jobId, value ?? 'null');
    super.recordEffect(jobId, key, value);
  }

  snapshot(): Snapshot {
    const tables = new Map(this.#tables().map(([name, table]) => [name, copyOf(table)]));
    return { jobs: [...this.jobs.values()], tables, watch: this.watch };
  }

  /** What was committed since then never happened. Returns how many rows of jobs that changes. */
  restore({ jobs, tables, watch }: Snapshot): number {
    const kept = new Set(jobs);
    const changed = [...this.jobs.values()].filter((job) => !kept.has(job)).length;
    for (const job of this.jobs.values()) this.remove(job);
    for (const job of jobs) super.put(job);
    for (const [name, table] of this.#tables()) refill(table, copyOf(tables.get(name)!));
    this.watch = watch;
    return changed;
  }

  #tables(): readonly (readonly [string, Table])[] {
    return Object.entries(this).filter(
      (entry): entry is [string, Table] =>
        !FROM_JOBS.has(entry[0]) && (entry[1] instanceof Map || Array.isArray(entry[1])),
    );
  }

  get openJobs(): readonly Job[] {
    return [...this.jobs.values()].filter(({ state }) => !isTerminal(state));
  }

  /** Whether some job has not ended; cheaper than asking which. */
  get hasOpenJobs(): boolean {
    return this.pending.size + this.waiting.size + this.running.size > 0;
  }
}

/** Rows are never changed in place, except where a row is a set. */
function copyOf(table: Table): Table {
  if (Array.isArray(table)) return [...table];
  return new Map([...table].map(([key, row]) => [key, row instanceof Set ? new Set(row) : row]));
}

function refill(table: Table, rows: Table): void {
  if (Array.isArray(table)) table.splice(0, Infinity, ...(rows as unknown[]));
  else {
    table.clear();
    for (const [key, row] of rows as Map<unknown, unknown>) table.set(key, row);
  }
}
