import { closest } from 'fastest-levenshtein';
import type { ConfigFault } from './config-error.js';
import type { Environment } from './read-variable.js';

/** Every name under this prefix is ours, so one that nobody knows is a slip of the pen. */
const PREFIX = 'DEADMAN_';

/** Variables of tests, which services that a test starts inherit. */
const TEST_PREFIX = 'DEADMAN_TEST_';

/** A fault for each `DEADMAN_…` variable that no service has, with the name that was probably meant. */
export function unknownNames(env: Environment, known: readonly string[]): ConfigFault[] {
  const isKnown = new Set(known);
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX) && !isKnown.has(name))
    .toSorted()
    .map((name) => ({
      variables: [name],
      message: `${name} is not a variable of Deadman: did you mean ${closest(name, known)}?`,
    }));
}
