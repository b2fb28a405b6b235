/** The tables of mutants in `docs/verification.md`: how a row is written, and what the page's rows say. */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../workspace.mjs';

export const PAGE = join(ROOT, 'docs', 'verification.md');

/**
 * A row as the page has it, from data and measurement.
 *
 * @param schedules how many it took; null for a mutant that a spec finds
 */
export function rowOf({ name, rule, check, spec }, schedules = null) {
  const cells = spec === undefined ? [rule, name, check, schedules] : [rule, name, `[${basename(spec)}](../${spec})`];
  return `| ${cells.join(' | ')} |`;
}

/** The rows of the page's tables of mutants. `schedules` is the text of the last column, null where there is no such column. */
export function readRows(page = readFileSync(PAGE, 'utf8')) {
  return page
    .split('\n')
    .filter((line) => /^\| §\d+ \|/.test(line))
    .map((line) => ({ line, cells: line.split('|').slice(1, -1) }))
    .map(({ line, cells: [, name, , schedules] }) => ({
      line,
      name: name.trim(),
      schedules: schedules?.trim() ?? null,
    }));
}
