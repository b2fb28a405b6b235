import { Counter, Gauge, Histogram } from 'prom-client';
import { METRIC_PREFIX } from './metrics-registry.js';
import type { Registry } from './metrics-registry.js';

/** Seconds, for what takes from a millisecond to an hour: runs, waits, recoveries. */
export const LONG_BUCKETS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3_600] as const;

/** Makes the instruments of one role, so that each is declared in a line. */
export class Instruments {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  /** A counter that begins at 0, so that an alert on its rise sees the first one. */
  counter(name: string, help: string): Counter {
    const counter = new Counter({ name: METRIC_PREFIX + name, help, registers: this.#registers });
    counter.inc(0);
    return counter;
  }

  /** A counter with several labels. */
  counterOf<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> {
    return new Counter({ name: METRIC_PREFIX + name, help, labelNames: [...labelNames], registers: this.#registers });
  }

  /** A counter with one label, which begins at 0 for the values that are known before. */
  labelledCounter<Label extends string>(
    name: string,
    help: string,
    label: Label,
    known: readonly string[],
  ): Counter<Label> {
    const counter = new Counter({ name: METRIC_PREFIX + name, help, labelNames: [label], registers: this.#registers });
    for (const value of known) counter.inc({ [label]: value } as Record<Label, string>, 0);
    return counter;
  }

  gauge<Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []): Gauge<Label> {
    return new Gauge({ name: METRIC_PREFIX + name, help, labelNames: [...labelNames], registers: this.#registers });
  }

  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({
      name: METRIC_PREFIX + name,
      help,
      buckets: [...buckets],
      labelNames: [...labelNames],
      registers: this.#registers,
    });
  }
}

export function seconds(milliseconds: number): number {
  return milliseconds / 1_000;
}
