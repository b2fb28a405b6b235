import type { Stage } from '../run/stage.js';

/** Without a terminal a line is kept for good, so there are fewer. Milliseconds. */
const LINE_EVERY_MS = 15_000;

/** Shows one line of what goes on: rewritten on a terminal, and now and then elsewhere. */
export class Progress {
  readonly #title: string;
  readonly #begunMs = performance.now();
  #lastMs = -Infinity;

  constructor(title: string) {
    this.#title = title;
  }

  show({ ledger, watch, doing }: Stage): void {
    const nowMs = performance.now();
    const isTerminal = process.stderr.isTTY;
    if (!isTerminal && nowMs - this.#lastMs < LINE_EVERY_MS) return;
    this.#lastMs = nowMs;
    const seconds = Math.round((nowMs - this.#begunMs) / 1_000);
    const { RUNNING: running = 0 } = watch.states;
    const counts = `${ledger.accepted.length} accepted, ${watch.ended} ended, ${running} running`;
    const line = `${this.#title}  ${seconds} s  ${counts}  ${doing}`;
    process.stderr.write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  }

  end(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }
}
