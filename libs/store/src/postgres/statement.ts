import { readFileSync } from 'node:fs';

/** A statement as it is sent: its name makes it a prepared one, parsed and planned once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Reads a statement from its file. Called when a module loads, so that a missing file fails the start and not a job. */
export function statement(name: string): Statement {
  return { name, text: readFileSync(new URL(`./statements/${name}.sql`, import.meta.url), 'utf8') };
}
