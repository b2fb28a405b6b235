import { describe, expect, it } from '@jest/globals';
import { defineConfig } from './define-config.js';
import { parseConfig } from './parse-config.js';
import { renderConfigReference, renderEnvExample } from './reference.js';
import { databaseSlice, optionalDatabaseSlice } from './slices/database-slice.js';
import { limitsSlice } from './slices/limits-slice.js';
import { SHARED_SLICES } from './slices/shared-slices.js';
import { workerSlice } from './slices/worker-slice.js';

const SERVICES = {
  standalone: defineConfig({ database: optionalDatabaseSlice, worker: workerSlice, limits: limitsSlice }),
  worker: defineConfig({ database: databaseSlice, worker: workerSlice }),
};
const ALL = { all: defineConfig(Object.fromEntries(SHARED_SLICES.map((slice) => [slice.title, slice]))) };
const NAMES = SHARED_SLICES.flatMap((slice) => Object.values(slice.variables) as { name: string }[]).map(
  ({ name }) => name,
);

describe('renderConfigReference', () => {
  const page = renderConfigReference(SERVICES);

  it('has a row for every variable, with default, what is allowed, and who reads it', () => {
    expect(page).toContain(
      '| `DEADMAN_SLOTS` | `16` | a whole number from 1 to 10000 | Handlers that run at once in one worker. | standalone, worker |',
    );
  });

  it('says of one variable once who reads it and who cannot do without, and names its file twin', () => {
    const rows = page.split('\n').filter((line) => line.includes('`DATABASE_URL`'));
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain('`DATABASE_URL` or `DATABASE_URL_FILE`');
    expect(rows[0]).toContain('Required by worker.');
    expect(rows[0]).toContain('| standalone, worker |');
  });

  it('states the rules between values', () => {
    expect(page).toContain('the first delay of a quarantine must not be longer than the longest.');
  });

  it.each(NAMES)('knows %s', (name) => {
    expect(renderConfigReference(ALL)).toContain(`\`${name}\``);
  });
});

describe('renderEnvExample', () => {
  it('is a valid environment of nothing but defaults once its lines are uncommented', () => {
    const lines = renderEnvExample(SERVICES).split('\n');
    const assignments = lines.filter((line) => /^#[A-Z_]+=/.test(line)).map((line) => line.slice(1).split('=', 2));
    const env = Object.fromEntries(assignments) as Record<string, string>;
    expect(Object.keys(env)).toContain('DEADMAN_DRAIN_MS');
    expect(parseConfig(SERVICES.standalone, env)).toEqual(parseConfig(SERVICES.standalone, {}));
  });
});
