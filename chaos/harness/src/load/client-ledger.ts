import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

/**
 * What clients were told: the id of every job whose acceptance was answered, one a line. Each batch is on the disk before
 * the client goes on, so that nothing that was promised is forgotten with the harness itself. Lost jobs are counted from
 * this file and never from the database (`faults.md`).
 */
export class ClientLedger {
  readonly accepted: string[] = [];
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  add(ids: readonly string[]): void {
    if (ids.length === 0) return;
    writeSync(this.#file, `${ids.join('\n')}\n`);
    fsyncSync(this.#file);
    this.accepted.push(...ids);
  }

  close(): void {
    closeSync(this.#file);
  }
}
