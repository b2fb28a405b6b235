import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { ServiceInfo } from '../service-info.js';

export type { Registry } from 'prom-client';

export const METRIC_PREFIX = 'deadman_';

/** A registry with what every service exports: `build_info`, event-loop lag and process metrics. */
export function createMetricsRegistry({ service, version }: ServiceInfo): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: METRIC_PREFIX });
  new Gauge({
    name: `${METRIC_PREFIX}build_info`,
    help: 'Always 1; the labels say what runs',
    labelNames: ['service', 'version', 'node'],
    registers: [registry],
  }).set({ service, version, node: process.versions.node }, 1);
  return registry;
}

/** What a scrape reads at once from memory. Anything that asks a database is sampled in the background instead. */
export function gaugeOf(registry: Registry, name: string, help: string, read: () => number): void {
  const gauge: Gauge = new Gauge({
    name: METRIC_PREFIX + name,
    help,
    registers: [registry],
    collect: () => gauge.set(read()),
  });
}

/** The same with one label. */
export function labelledGaugeOf(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  read: () => Readonly<Record<string, number>>,
): void {
  const gauge: Gauge = new Gauge({
    name: METRIC_PREFIX + name,
    help,
    labelNames: [label],
    registers: [registry],
    collect: () => {
      gauge.reset();
      for (const [value, count] of Object.entries(read())) gauge.set({ [label]: value }, count);
    },
  });
}

/** Connections of the database pool, by what they do: `busy`, `idle`, and callers that wait for one. */
export function measurePool(
  registry: Registry,
  read: () => { readonly busy: number; readonly idle: number; readonly waiting: number },
): void {
  labelledGaugeOf(registry, 'db_pool_connections', 'Connections of the database pool', 'state', () => ({ ...read() }));
}

/** Slots for handlers: how many there are and how many are busy. */
export function measureSlots(
  registry: Registry,
  read: () => { readonly capacity: number; readonly busy: number },
): void {
  gaugeOf(registry, 'worker_slots_capacity', 'Handlers that can run at once', () => read().capacity);
  gaugeOf(registry, 'worker_slots_busy', 'Handlers that run now', () => read().busy);
}
