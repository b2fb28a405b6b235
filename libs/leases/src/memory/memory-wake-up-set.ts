import { WakeUpSet } from '@deadman/domain';
import type { Clock } from '@deadman/domain';
import TinyQueue from 'tinyqueue';

/** The heap is rebuilt when it holds more than twice what is wanted and at least this much beyond it. */
const STALE_TOLERATED = 1_000;

interface WakeUp {
  readonly id: string;
  readonly dueAtMs: number;
}

/**
 * Wake-ups in the memory of this process: a heap by time, and beside it the time that holds for each id. An entry of the
 * heap whose time no longer holds was moved and is passed over when its turn comes.
 */
export class MemoryWakeUpSet extends WakeUpSet {
  readonly #clock: Clock;
  readonly #dueAtMs = new Map<string, number>();
  #heap = heapOf([]);

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  override async add(entries: readonly { readonly id: string; readonly inMs: number }[]): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    for (const { id, inMs } of entries) {
      const dueAtMs = nowMs + inMs;
      if (this.#dueAtMs.get(id) === dueAtMs) continue;
      this.#dueAtMs.set(id, dueAtMs);
      this.#heap.push({ id, dueAtMs });
    }
    this.#dropStale();
  }

  override async popDue(limit: number): Promise<readonly string[]> {
    const nowMs = this.#clock.monotonicMs();
    const due: string[] = [];
    while (due.length < limit) {
      const first = this.#first();
      if (first === null || first.dueAtMs > nowMs) break;
      this.#heap.pop();
      this.#dueAtMs.delete(first.id);
      due.push(first.id);
    }
    return due;
  }

  override async nextInMs(): Promise<number | null> {
    const first = this.#first();
    return first === null ? null : Math.max(0, first.dueAtMs - this.#clock.monotonicMs());
  }

  /** The first entry whose time holds. */
  #first(): WakeUp | null {
    for (;;) {
      const first = this.#heap.peek();
      if (first === undefined) return null;
      if (this.#dueAtMs.get(first.id) === first.dueAtMs) return first;
      this.#heap.pop();
    }
  }

  /** The reaper adds the same jobs every second, each moved by a hair: without this the heap would only grow. */
  #dropStale(): void {
    const wanted = this.#dueAtMs.size;
    if (this.#heap.length <= 2 * wanted + STALE_TOLERATED) return;
    this.#heap = heapOf([...this.#dueAtMs].map(([id, dueAtMs]) => ({ id, dueAtMs })));
  }
}

function heapOf(wakeUps: WakeUp[]): TinyQueue<WakeUp> {
  return new TinyQueue(wakeUps, (one, other) => one.dueAtMs - other.dueAtMs);
}
