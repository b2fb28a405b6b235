import { describe, expect, it } from '@jest/globals';
import { Kernel } from './kernel.js';
import { ObservedDatabase } from './observed-database.js';
import { VirtualClock } from './process.js';

const QUIET = { onChange: () => {}, onEffectCommitted: () => {}, onCommit: () => {} };

/** All tables of the database, by name, but for those that are made from the rows of jobs. */
function tablesOf(db: ObservedDatabase): readonly [string, Map<unknown, unknown> | unknown[]][] {
  return Object.entries(db).filter(
    (entry): entry is [string, Map<unknown, unknown> | unknown[]] =>
      entry[0] !== 'running' && (entry[1] instanceof Map || Array.isArray(entry[1])),
  );
}

describe('a failover of the simulated database', () => {
  it('loses of every table what was written since the snapshot, and of the reapers’ watch', () => {
    const db = new ObservedDatabase(new VirtualClock(new Kernel()), QUIET);
    const snapshot = db.snapshot();
    const watch = db.watch;
    const tables = tablesOf(db).filter(([name]) => name !== 'jobs');
    expect(tables.length).toBeGreaterThan(8);
    for (const [, table] of tables) {
      if (Array.isArray(table)) table.push('since');
      else table.set('since', 'since');
    }
    db.watch = { ...(watch as object), mark: 'since' } as never;
    db.restore(snapshot);
    const left = tables.map(([name, table]) => [name, Array.isArray(table) ? table.length : table.size]);
    expect(left).toEqual(tables.map(([name]) => [name, 0]));
    expect(db.watch).toEqual(watch);
  });
});
