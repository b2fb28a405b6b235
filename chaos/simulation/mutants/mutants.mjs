import { FOUND_BY_SCHEDULES } from './found-by-schedules.mjs';
import { FOUND_BY_SPECS } from './found-by-specs.mjs';

/**
 * Faults that somebody could put into the code, each against one rule of the protocol, in the order of its sections. The
 * simulation has to find every one of them, or a spec that is named with it has to: a checker that cannot fail is no checker
 * (`faults.md`).
 *
 * `edits`   each replaces the one place of its file that holds `from`; a mutant that no longer fits is an error.
 * `check`   the check of the simulation that has to go red first; that another one does proves nothing of this one.
 * `budget`  schedules within which it has to.
 * `spec`    the test that pins the rule instead of a check.
 */
export const MUTANTS = [...FOUND_BY_SCHEDULES, ...FOUND_BY_SPECS].toSorted(
  (one, other) => sectionOf(one) - sectionOf(other),
);

function sectionOf({ rule }) {
  return Number(rule.slice(1));
}
