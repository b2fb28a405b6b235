import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { MUTANTS } from '../chaos/simulation/mutants/mutants.mjs';
import { ROOT } from './workspace.mjs';

const PAGE = join(ROOT, 'docs', 'verification.md');
const REGRESSIONS = join(ROOT, 'chaos', 'simulation', 'regressions');

/** A test that the page names: a link to its file, and its title as it stands there. */
const TEST = /\[[^\]]+\]\(([^)]+\.ts)\): `([^`]+)`/g;

describe('the mutants of the simulation', () => {
  it.each(MUTANTS.map(({ name, edits }) => [name, edits]))('“%s” fits the code', (_name, edits) => {
    const places = edits.map(({ file, from }) => readFileSync(join(ROOT, file), 'utf8').split(from).length - 1);
    expect(places).toEqual(edits.map(() => 1));
  });
});

describe('docs/verification.md', () => {
  const page = readFileSync(PAGE, 'utf8');
  const cells = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));

  it('has a row for every mutant, and for none that is gone', () => {
    const rows = cells.filter(([, section, name]) => /^§\d+$/.test(section) && name !== undefined);
    const told = rows.map(([, section, name]) => `${section} ${name}`);
    expect(told.toSorted()).toEqual(MUTANTS.map(({ rule, name }) => `${rule} ${name}`).toSorted());
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
