/** How the steps of a test run add up, and which spec files it forgot. */
import { relative } from 'node:path';
import { writtenFiles } from './workspace.mjs';

const SPEC_FILE = /\.(spec|int-spec|e2e-spec)\.(ts|mjs)$/;

/** Adds a step. One that failed without a failing test, a linter for example, counts as one failure. */
export function tallied(tally, { code, passed = 0, failed = 0, skipped = 0 }) {
  return {
    passed: tally.passed + passed,
    failed: tally.failed + (code !== 0 && failed === 0 ? 1 : failed),
    skipped: tally.skipped + skipped,
  };
}

/** The line that CI reads. */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** @param {Set<string>} ran relative to `root` */
export function forgottenSpecs(root, ran) {
  return writtenFiles(root)
    .map((file) => relative(root, file))
    .filter((file) => SPEC_FILE.test(file) && !ran.has(file));
}
