import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS, STORM_CHECKS } from '../checks/checks.js';
import { ROOT } from '../run/frozen-code.js';
import { SCENARIOS } from '../scenarios/catalogue.js';
import { MUTANTS, SIMULATED_ONLY } from './mutants.js';

const SIMULATED = join(ROOT, 'chaos', 'simulation', 'mutants');

const EVERYWHERE = [...CHECKS, ...STORM_CHECKS].map(({ name }) => name);

describe('the mutants', () => {
  it.each(MUTANTS.flatMap(({ name, edits }) => edits.map((edit) => [name, edit] as const)))(
    '“%s” still fits the code, in one place',
    (_name, { file, from }) => {
      expect(readFileSync(join(ROOT, file), 'utf8').split(from)).toHaveLength(2);
    },
  );

  it.each(MUTANTS.map(({ name, scenario, check }) => [name, scenario, check] as const))(
    '“%s” is looked for by a scenario and a check that there are',
    (_name, scenario, check) => {
      expect(SCENARIOS.map(({ name }) => name)).toContain(scenario);
      const own = readdirSync(join(import.meta.dirname, '..', 'scenarios'))
        .map((file) => readFileSync(join(import.meta.dirname, '..', 'scenarios', file), 'utf8'))
        .some((text) => text.includes(`'${check}'`));
      expect(own || EVERYWHERE.includes(check)).toBe(true);
    },
  );

  it.each(MUTANTS.map(({ name, scenario, check }) => `| ${name} | \`${scenario}\` | \`${check}\` |`))(
    'the guide has the row %s',
    (row) => expect(readFileSync(join(ROOT, 'docs', 'guides', 'chaos.md'), 'utf8')).toContain(row),
  );

  it.each(SIMULATED_ONLY)('“%s” is one that the simulation finds', (name) => {
    const lists = readdirSync(SIMULATED).map((file) => readFileSync(join(SIMULATED, file), 'utf8'));
    expect(lists.some((text) => text.includes(`name: '${name}'`))).toBe(true);
  });
});
