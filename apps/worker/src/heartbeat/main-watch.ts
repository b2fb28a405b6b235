import { Silence } from '@deadman/domain';
import type { Clock, Timer } from '@deadman/domain';

/**
 * Silence of the worker's thread that counts: it turns at least once a second unless something blocks it. Milliseconds,
 * a guess; a pause for garbage is shorter by far.
 */
const SILENT_AFTER_MS = 2_000;

export interface MainWatchDeps {
  readonly clock: Clock;
  /** Whether a job of the worker has overstayed its timeout and the slack: only a blocked worker lets it. */
  readonly isAnyOverdue: () => boolean;
  /** Called each time before it looks: says that this thread lives, and hears what was said. */
  readonly onPulse: () => void;
  /** The worker's thread is blocked past the deadline of a job of its. */
  readonly onBlocked: (silentMs: number) => void;
}

/**
 * The heart's watch over the worker's thread. A handler may block it for as long as its job may run; past that nothing in
 * the process can stop the handler, so the process has to go, and its other jobs with it.
 */
export class MainWatch {
  readonly #deps: MainWatchDeps;
  readonly #everyMs: number;
  readonly #silence: Silence;
  #timer: Timer | null = null;

  /** @param everyMs time between two looks. */
  constructor(deps: MainWatchDeps, everyMs: number) {
    this.#deps = deps;
    this.#everyMs = everyMs;
    this.#silence = new Silence(deps.clock.monotonicMs(), everyMs);
  }

  start(): void {
    const { clock, onPulse } = this.#deps;
    onPulse();
    this.#look();
    this.#timer = clock.setTimer(this.#everyMs, () => this.start());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** The worker's thread said something. */
  heard(): void {
    this.#silence.broken();
  }

  #look(): void {
    const { clock, isAnyOverdue, onBlocked } = this.#deps;
    const silentMs = this.#silence.look(clock.monotonicMs());
    if (silentMs >= SILENT_AFTER_MS && isAnyOverdue()) onBlocked(silentMs);
  }
}
