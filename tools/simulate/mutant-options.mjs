/** What a search for mutants is asked for. */
import { MUTANTS } from '../../chaos/simulation/mutants/mutants.mjs';

const SEARCH = '--mutants';
const TABLE = '--table';

/** What was asked for cannot be done, as a sentence for people. */
export class UnusableOptions extends Error {}

/** Whether these are the options of a search for mutants, and not of a run. */
export function asksForMutants(args) {
  return args.some((arg) => arg === SEARCH || arg.startsWith(`${SEARCH}=`)) && !args.includes('--help');
}

/**
 * @param args with `--mutants` among them, anywhere; parts of names, of which a mutant has to have one; none means all
 * @returns {{ mutants: object[], isTable: boolean }} `isTable`: the rows of the page are to be printed, too
 * @throws UnusableOptions
 */
export function parseMutantOptions(args) {
  const rest = args.filter((arg) => arg !== SEARCH && arg !== TABLE);
  const option = rest.find((arg) => arg.startsWith('-'));
  if (option !== undefined) {
    throw new UnusableOptions(`${SEARCH} takes ${TABLE} and parts of names beside it, and no ${option}`);
  }
  const unknown = rest.find((part) => !MUTANTS.some(({ name }) => name.includes(part)));
  if (unknown !== undefined) throw new UnusableOptions(`There is no mutant with "${unknown}" in its name`);
  const mutants = MUTANTS.filter(({ name }) => rest.length === 0 || rest.some((part) => name.includes(part)));
  return { mutants, isTable: args.includes(TABLE) };
}
