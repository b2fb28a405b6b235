import { Instruments } from '../metrics/instruments.js';
import type { Registry } from '../metrics/metrics-registry.js';
import type { Logger } from '../logs/logger.js';
import type { HealthRegistry } from './health-registry.js';

/** Writes a line whenever a check goes up or down. */
export function logHealth(health: HealthRegistry, logger: Logger): void {
  health.onChange((dependency, { status, critical, error, effect }) => {
    const fields = { event: `dependency.${status}`, dependency, critical };
    if (status === 'up') logger.info(fields, `${dependency} can be used`);
    else logger.warn({ ...fields, error, effect }, `${dependency} cannot be used`);
  });
}

/** Exports `dependency_up`. A check is down until its first success. */
export function measureHealth(health: HealthRegistry, registry: Registry): void {
  const up = new Instruments(registry).gauge('dependency_up', '1 while a dependency answers', ['dependency']);
  for (const [dependency, { status }] of Object.entries(health.ready().checks)) {
    up.set({ dependency }, status === 'up' ? 1 : 0);
  }
  health.onChange((dependency, { status }) => up.set({ dependency }, status === 'up' ? 1 : 0));
}
