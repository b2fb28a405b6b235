import { Ids } from '@deadman/domain';
import type { Clock } from '@deadman/domain';

const FIXED_TIME_MS = Date.parse('2026-01-01T00:00:00.000Z');

/**
 * The same uuids in every run: valid in version and variant, counted up instead of drawn. Time-ordered ones carry the
 * time of `clock`, so that they sort and age as real ones do.
 */
export class SequenceIds extends Ids {
  readonly #clock: Pick<Clock, 'now'> | null;
  readonly #stream: number;
  #timeOrdered = 0;
  #random = 0;

  /** @param stream 0 to 65 535; makers with different streams never make the same id. */
  constructor(clock: Pick<Clock, 'now'> | null = null, stream = 0) {
    super();
    this.#clock = clock;
    this.#stream = stream;
  }

  override timeOrdered(): string {
    this.#timeOrdered += 1;
    const time = hex(this.#clock?.now().getTime() ?? FIXED_TIME_MS, 12);
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8${this.#tail(this.#timeOrdered)}`;
  }

  override random(): string {
    this.#random += 1;
    return `00000000-0000-4000-8${this.#tail(this.#random)}`;
  }

  /** The last 60 bits: the counter leads, so that ids of one millisecond sort as they were made. */
  #tail(counter: number): string {
    const digits = hex(counter, 11) + hex(this.#stream, 4);
    return `${digits.slice(0, 3)}-${digits.slice(3)}`;
  }
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
