import type { End, ServiceProcess } from './service-process.js';
import type { Services } from './services.js';

/** A signal that comes twice within this time was sent once: by the terminal, and again by npm. Milliseconds. */
const SAME_SIGNAL_MS = 1_000;

/** The first signal stops everything; a second one skips the waiting in that, as it does for each service. */
export class StopOnSignal {
  readonly #services: Services;
  readonly #print: (text: string) => void;
  readonly #asked = new AbortController();
  readonly #told = new Set<ServiceProcess>();
  readonly #ends: Promise<End>[] = [];
  #lastMs = -Infinity;

  constructor(services: Services, print: (text: string) => void) {
    this.#services = services;
    this.#print = print;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.#onSignal());
  }

  /** Aborts at the first signal: nothing more is to be started. */
  get asked(): AbortSignal {
    return this.#asked.signal;
  }

  /** Stops what was started after the signal, too, waits until everything has ended, and says how. True when all was clean. */
  async finish(): Promise<boolean> {
    this.#tell();
    const unclean = (await Promise.all(this.#ends)).filter((end) => !isClean(end)).length;
    this.#print(unclean === 0 ? 'All have stopped.\n' : `All have stopped, ${unclean} of them not cleanly.\n`);
    return unclean === 0;
  }

  #onSignal(): void {
    const nowMs = performance.now();
    if (nowMs - this.#lastMs <= SAME_SIGNAL_MS) return;
    this.#lastMs = nowMs;
    if (this.asked.aborted) return this.#services.running.forEach((process) => process.signal('SIGTERM'));
    this.#print('\nStopping; once more skips the waiting for handlers.\n');
    this.#asked.abort();
    this.#tell();
  }

  /** Each is told once, since being told twice means hurry. */
  #tell(): void {
    for (const process of this.#services.running) {
      if (this.#told.has(process)) continue;
      this.#told.add(process);
      this.#ends.push(process.stop());
    }
  }
}

/** A service that hears signals ends by itself; the signal ends only one that has not begun yet, and so has nothing to finish. */
function isClean({ code, signal }: End): boolean {
  return code === 0 || signal === 'SIGTERM';
}
