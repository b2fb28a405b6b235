import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { addLine, emptyHistory } from '../checks/history.js';
import type { OpenHistory } from '../checks/history.js';
import type { Life } from '../run/lives.js';

const CHUNK = 1 << 20;

/** What a worker takes from its start to its first run, before one was seen. Milliseconds, measured on two busy cores. */
const FIRST_BOOT_MS = 3_500;

/**
 * Follows the histories of workers while they are written, for the share of runs that kills have interrupted. An estimate:
 * a run that its worker settled and did not live to write down counts as interrupted. The checks count by the database.
 */
export class KillCount {
  readonly #followed = new Map<Life, Followed>();
  #started = 0;
  #ended = 0;
  #interrupted = 0;
  #boots = 0;
  #bootsMs = 0;

  get started(): number {
    return this.#started;
  }

  get interrupted(): number {
    return this.#interrupted;
  }

  /** Of the runs that are over, since those under way may come to either end. Null while none is. */
  get rate(): number | null {
    return this.over === 0 ? null : this.#interrupted / this.over;
  }

  get over(): number {
    return this.#ended + this.#interrupted;
  }

  /** What a worker took from its start to its first run, on average. */
  get bootMs(): number {
    return this.#boots === 0 ? FIRST_BOOT_MS : this.#bootsMs / this.#boots;
  }

  /** Reads what was written since the last look. A life that has ended is looked at once more, and then counted. */
  look(lives: readonly Life[]): void {
    for (const life of lives) {
      if (life.service !== 'worker') continue;
      const followed = this.#followed.get(life) ?? this.#follow(life);
      if (followed.isOver) continue;
      const hasEnded = life.endedAtMs !== null;
      const before = { started: followed.history.starts.length, ended: followed.history.endings.length };
      followed.read(life);
      const { starts, endings } = followed.history;
      this.#started += starts.length - before.started;
      this.#ended += endings.length - before.ended;
      if (before.started === 0 && starts.length > 0) this.#addBoot(starts[0]!.at - life.startedAtMs);
      if (hasEnded) this.#close(followed, life);
    }
  }

  #addBoot(ms: number): void {
    this.#boots += 1;
    this.#bootsMs += ms;
  }

  #follow(life: Life): Followed {
    const followed = new Followed();
    this.#followed.set(life, followed);
    return followed;
  }

  #close(followed: Followed, life: Life): void {
    const { starts, endings } = followed.history;
    const started = new Set(starts.map(({ jobId, attempt }) => `${jobId} ${attempt}`));
    for (const { jobId, attempt } of endings) started.delete(`${jobId} ${attempt}`);
    if (life.wasKilled) this.#interrupted += started.size;
    followed.finish();
  }
}

class Followed {
  history: OpenHistory = emptyHistory();
  isOver = false;
  #offset = 0;
  #rest = '';

  read(life: Life): void {
    if (!existsSync(life.historyFile)) return;
    const file = openSync(life.historyFile, 'r');
    const buffer = Buffer.alloc(CHUNK);
    for (let length = 1; length > 0;) {
      length = readSync(file, buffer, 0, CHUNK, this.#offset);
      this.#offset += length;
      const lines = (this.#rest + buffer.toString('utf8', 0, length)).split('\n');
      this.#rest = lines.pop()!;
      for (const line of lines) addLine(this.history, line, life);
    }
    closeSync(file);
  }

  /** Lets go of what has been counted. */
  finish(): void {
    this.isOver = true;
    this.history = emptyHistory();
  }
}
