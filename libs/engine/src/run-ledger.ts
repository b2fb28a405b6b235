import type { HeartNews } from './heart.js';
import { runKey } from './run.js';
import type { Run } from './run.js';

/**
 * Everything this worker holds: its runs from claim to settlement, and the tokens of claims whose reply is still out.
 * What the store believes beyond that is an orphan; what it does not confirm is lost (`protocol.md` §6). The heart, which
 * finds that out, is told of every change.
 */
export class RunLedger {
  readonly #tell: (news: HeartNews) => void;
  readonly #runs = new Map<string, Run>();
  readonly #alone = new Set<string>();
  readonly #claiming = new Set<string>();

  constructor(tell: (news: HeartNews) => void) {
    this.#tell = tell;
  }

  /** Runs that are queued, running or settling. */
  get size(): number {
    return this.#runs.size;
  }

  /** Whether nothing is held and no claim is under way. */
  get isEmpty(): boolean {
    return this.#runs.size === 0 && this.#claiming.size === 0;
  }

  /** To be called before the claim is sent. */
  beginClaim(token: string): void {
    this.#claiming.add(token);
    this.#tell({ kind: 'claim-began', token });
  }

  endClaim(token: string): void {
    this.#claiming.delete(token);
    this.#tell({ kind: 'claim-ended', token });
  }

  isClaiming(token: string): boolean {
    return this.#claiming.has(token);
  }

  /** To be called before the claim that gave the runs ends. */
  add(runs: readonly Run[]): void {
    for (const run of runs) {
      this.#runs.set(run.key, run);
      if (run.job.claim.alone) this.#alone.add(run.key);
    }
    const held = runs.map(({ lease, job: { timeoutMs }, claimedAtMs }) => ({ lease, timeoutMs, claimedAtMs }));
    this.#tell({ kind: 'runs-held', runs: held });
  }

  /** Its handler is about to be called. */
  start(run: Run, nowMs: number): void {
    run.phase = 'running';
    run.startedAtMs = nowMs;
    if (this.#runs.has(run.key)) this.#tell({ kind: 'run-started', key: run.key, atMs: nowMs });
  }

  /** Its outcome is about to be written. */
  settle(run: Run): void {
    run.phase = 'settling';
    if (this.#runs.has(run.key)) this.#tell({ kind: 'run-settling', key: run.key });
  }

  drop(run: Run): void {
    if (!this.#runs.delete(run.key)) return;
    this.#alone.delete(run.key);
    this.#tell({ kind: 'run-dropped', key: run.key });
  }

  /** Whether a job from quarantine is held, beside which nothing may run. */
  holdsAlone(): boolean {
    return this.#alone.size > 0;
  }

  get(key: string): Run | undefined {
    return this.#runs.get(key);
  }

  find(claim: { readonly jobId: string; readonly token: string }): Run | undefined {
    return this.get(runKey(claim));
  }

  runs(): readonly Run[] {
    return [...this.#runs.values()];
  }
}
