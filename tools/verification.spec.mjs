import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { MUTANTS } from '../chaos/simulation/mutants/mutants.mjs';
import { PAGE, readRows, rowOf } from './simulate/mutant-table.mjs';
import { judge } from './simulate/mutants.mjs';
import { ROOT } from './workspace.mjs';

const REGRESSIONS = join(ROOT, 'chaos', 'simulation', 'regressions');

/** A test that the page names: a link to its file, and its title as it stands there. */
const TEST = /\[[^\]]+\]\(([^)]+\.ts)\): `([^`]+)`/g;

describe('the mutants of the simulation', () => {
  it.each(MUTANTS.map(({ name, edits }) => [name, edits]))('“%s” fits the code', (_name, edits) => {
    const places = edits.map(({ file, from }) => readFileSync(join(ROOT, file), 'utf8').split(from).length - 1);
    expect(places).toEqual(edits.map(() => 1));
  });

  it('name what has to find them: a check within a budget, or a spec', () => {
    const unnamed = MUTANTS.filter(({ spec, check, budget }) =>
      spec === undefined ? !check || !(budget > 0) : check !== undefined || budget !== undefined,
    );
    expect(unnamed).toEqual([]);
  });

  it('are found by the check that they name, and by no other', () => {
    const mutant = { name: 'of nobody', rule: '§1', check: 'G4 attempts', budget: 200 };
    expect(judge(mutant, { schedules: 3, instead: null })).toMatchObject({ isFound: true, schedules: 3 });
    expect(judge(mutant, { schedules: null, instead: null })).toMatchObject({ isFound: false });
    const other = judge(mutant, { schedules: null, instead: 'G9 ends' });
    expect(other).toEqual({
      isFound: false,
      how: 'not by G4 attempts in 200 schedules, which broke G9 ends',
    });
  });
});

describe('docs/verification.md', () => {
  const page = readFileSync(PAGE, 'utf8');
  const rows = readRows(page);

  it('has a row for every mutant, with what finds it, and for none that is gone', () => {
    const schedulesOf = new Map(rows.map(({ name, schedules }) => [name, schedules]));
    const wanted = MUTANTS.map((mutant) => rowOf(mutant, schedulesOf.get(mutant.name)));
    expect(rows.map(({ line }) => line).toSorted()).toEqual(wanted.toSorted());
  });

  it('says of no mutant that it took more schedules than it may', () => {
    const budgets = new Map(MUTANTS.map(({ name, budget }) => [name, budget]));
    const counted = rows.filter(({ name }) => budgets.get(name) !== undefined);
    const wrong = counted.filter(
      ({ name, schedules }) => !/^[1-9]\d*$/.test(schedules) || Number(schedules) > budgets.get(name),
    );
    expect(wrong).toEqual([]);
  });

  it('says what was wrong with every plan that is kept', () => {
    const kept = existsSync(REGRESSIONS) ? readdirSync(REGRESSIONS) : [];
    expect(kept.filter((file) => !page.includes(`regressions/${file})`))).toEqual([]);
  });

  it.each([...page.matchAll(TEST)].map(([, file, title]) => [title, file]))('“%s” is a test of %s', (title, file) => {
    const source = readFileSync(join(dirname(PAGE), file), 'utf8');
    expect(["'", '`', '"'].some((quote) => source.includes(`${quote}${title}${quote}`))).toBe(true);
  });

  it('links to nothing that is not there', () => {
    const links = [...page.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, file]) => join(dirname(PAGE), file));
    expect(links.filter((file) => !existsSync(file))).toEqual([]);
  });
});
