import type { Check } from './checks.js';
import type { Evidence } from './evidence.js';
import { measure } from './measures.js';

/** Breaches that are written down in full; a broken rule tends to break a thousand times in the same way. */
const MOST_BREACHES = 20;

/** What a scenario itself has found. */
export interface Finding {
  readonly check: string;
  readonly promise: string;
  readonly breaches: readonly string[];
}

/** A check, and what it found. */
export interface Judgement {
  readonly check: string;
  readonly promise: string;
  /** Whether a breach makes the run red. */
  readonly decides: boolean;
  /** How many breaches there were. */
  readonly count: number;
  /** The first of them. */
  readonly breaches: readonly string[];
}

/** Holds a run against checks, and adds what its scenario found. Unless it `isTimed`, speed is told and decides nothing. */
export function judge(
  checks: readonly Check[],
  findings: readonly Finding[],
  evidence: Evidence,
  { isTimed }: { readonly isTimed: boolean },
): readonly Judgement[] {
  const measures = measure(evidence);
  const found = checks.map(({ name, promise, isOfSpeed = false, find }) => ({
    check: name,
    promise,
    decides: isTimed || !isOfSpeed,
    breaches: find(evidence, measures),
  }));
  return [...found, ...findings.map((finding) => ({ ...finding, decides: true }))].map(({ breaches, ...check }) => ({
    ...check,
    count: breaches.length,
    breaches: breaches.slice(0, MOST_BREACHES),
  }));
}

export function isGreen(judgements: readonly Judgement[]): boolean {
  return judgements.every(({ count, decides }) => count === 0 || !decides);
}
