import { WakeUpSet } from '@deadman/domain';
import type { RedisScripts } from './redis-scripts.js';

const SET_KEY = 'deadman:wake-ups';

/** Wake-ups in one sorted set, scored by the time they are due on Redis' own clock. Shared by all reapers. */
export class RedisWakeUpSet extends WakeUpSet {
  readonly #scripts: RedisScripts;

  constructor(scripts: RedisScripts) {
    super();
    this.#scripts = scripts;
  }

  override async add(entries: readonly { readonly id: string; readonly inMs: number }[]): Promise<void> {
    if (entries.length === 0) return;
    const args = entries.flatMap(({ id, inMs }) => [id, Math.ceil(inMs)]);
    await this.#scripts.run('addWakeUps', [SET_KEY], args);
  }

  override async popDue(limit: number): Promise<readonly string[]> {
    return (await this.#scripts.run('popDue', [SET_KEY], [limit])) as string[];
  }

  override async nextInMs(): Promise<number | null> {
    const inMs = (await this.#scripts.run('nextIn', [SET_KEY], [])) as number | null;
    return inMs === null ? null : Math.max(0, inMs);
  }
}
