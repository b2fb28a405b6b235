import type { ConfigFault } from './config-error.js';
import { REQUIRED } from './variable.js';
import type { Variable } from './variable.js';

/** The variables of a process, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a whole text file, or throws. */
export type ReadTextFile = (path: string) => string;

export type Reading = { readonly value: unknown } | { readonly fault: ConfigFault };

/** Longest piece of a wrong value that a message repeats. */
const SHOWN_LENGTH = 60;

/** The name of the variable that may name a file with this one's value. */
export function fileTwinOf(variable: Variable<unknown>): string | null {
  return variable.isSecret ? `${variable.name}_FILE` : null;
}

/** The value of a variable. Empty means absent, since that is how compose files and shells pass on what is not set. */
export function readVariable(variable: Variable<unknown>, env: Environment, readTextFile: ReadTextFile): Reading {
  const direct = textOf(env, variable.name);
  const twin = fileTwinOf(variable);
  const path = twin === null ? null : textOf(env, twin);
  if (twin === null || path === null) return parse(variable, direct);
  if (direct !== null) return fault(variable, `${variable.name} and ${twin} are both set: set one of them`);
  return readFromFile(variable, twin, path, readTextFile);
}

function readFromFile(variable: Variable<unknown>, twin: string, path: string, readTextFile: ReadTextFile): Reading {
  try {
    return parse(variable, readTextFile(path).trim() || null);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return fault(variable, `${twin} names the file ${shown(path)}, which cannot be read (${code})`);
  }
}

function parse(variable: Variable<unknown>, text: string | null): Reading {
  const { name, allowed, fallback, isSecret } = variable;
  if (text === null) {
    return fallback === REQUIRED ? fault(variable, `${name} is not set: it must be ${allowed}`) : { value: fallback };
  }
  const parsed = variable.schema.safeParse(text);
  if (parsed.success) return { value: parsed.data };
  return fault(variable, `${name} is ${isSecret ? 'not valid (value hidden)' : shown(text)}: it must be ${allowed}`);
}

function textOf(env: Environment, name: string): string | null {
  return env[name]?.trim() || null;
}

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text);
}

function fault({ name }: Variable<unknown>, message: string): Reading {
  return { fault: { variables: [name], message } };
}
