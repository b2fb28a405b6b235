import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from './workspace.mjs';

const PAGE = join(ROOT, 'docs', 'scenarios.md');

/** A test that the page names: a link to its file, and its title as it stands there. */
const TEST = /\[[^\]]+\]\(([^)]+\.ts)\): `([^`]+)`/g;

describe('docs/scenarios.md', () => {
  const page = readFileSync(PAGE, 'utf8');
  const rows = page.split('\n').filter((line) => /^\| (?!#|-|promise)/.test(line));

  it('names a test in every row', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter((row) => [...row.matchAll(TEST)].length === 0)).toEqual([]);
  });

  it.each([...page.matchAll(TEST)].map(([, file, title]) => [title, file]))('“%s” is a test of %s', (title, file) => {
    const source = readFileSync(join(dirname(PAGE), file), 'utf8');
    expect(["'", '`', '"'].some((quote) => source.includes(`${quote}${title}${quote}`))).toBe(true);
  });
});
