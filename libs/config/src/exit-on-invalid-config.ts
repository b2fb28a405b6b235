import { ConfigError } from './config-error.js';
import type { ConfigDefinition, ConfigOf } from './define-config.js';
import { parseConfig } from './parse-config.js';
import type { Environment } from './read-variable.js';

/** `EX_CONFIG` of sysexits.h: a supervisor can tell a wrong configuration, which no restart mends, from a crash. */
export const EXIT_CONFIG = 78;

/** How the process speaks and ends; tests put something else in its place. */
export interface Exit {
  writeError(text: string): void;
  exit(code: number): never;
}

const PROCESS_EXIT: Exit = {
  writeError: (text) => void process.stderr.write(text),
  exit: (code) => process.exit(code),
};

/** The configuration, or the end of the process with every fault on stderr. For `main.ts`, before anything starts. */
export function exitOnInvalidConfig<D extends ConfigDefinition>(
  definition: D,
  env: Environment,
  ending: Exit = PROCESS_EXIT,
): ConfigOf<D> {
  try {
    return parseConfig(definition, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    ending.writeError(`${error.message}\n`);
    return ending.exit(EXIT_CONFIG);
  }
}
