import { runKey } from './run.js';
import type { Run } from './run.js';

/**
 * Everything this worker holds: its runs from claim to settlement, and the tokens of claims whose reply is still out.
 * What the store believes beyond that is an orphan; what it does not confirm is lost (`protocol.md` §6).
 */
export class RunLedger {
  readonly #runs = new Map<string, Run>();
  readonly #alone = new Set<string>();
  readonly #claiming = new Set<string>();

  /** Runs that are queued, running or settling. */
  get size(): number {
    return this.#runs.size;
  }

  /** Whether nothing is held and no claim is under way. */
  get isEmpty(): boolean {
    return this.#runs.size === 0 && this.#claiming.size === 0;
  }

  beginClaim(token: string): void {
    this.#claiming.add(token);
  }

  endClaim(token: string): void {
    this.#claiming.delete(token);
  }

  claimsUnderWay(): ReadonlySet<string> {
    return new Set(this.#claiming);
  }

  isClaiming(token: string): boolean {
    return this.#claiming.has(token);
  }

  add(run: Run): void {
    this.#runs.set(run.key, run);
    if (run.job.claim.alone) this.#alone.add(run.key);
  }

  drop(run: Run): void {
    this.#runs.delete(run.key);
    this.#alone.delete(run.key);
  }

  /** Whether a job from quarantine is held, beside which nothing may run. */
  holdsAlone(): boolean {
    return this.#alone.size > 0;
  }

  find(claim: { readonly jobId: string; readonly token: string }): Run | undefined {
    return this.#runs.get(runKey(claim));
  }

  runs(): readonly Run[] {
    return [...this.#runs.values()];
  }
}
