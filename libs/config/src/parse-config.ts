import { readFileSync } from 'node:fs';
import { ConfigError } from './config-error.js';
import type { ConfigFault } from './config-error.js';
import type { ConfigDefinition, ConfigOf, Relation, Slice } from './define-config.js';
import { fileTwinOf, readVariable } from './read-variable.js';
import type { Environment, ReadTextFile } from './read-variable.js';
import { SHARED_SLICES } from './slices/shared-slices.js';
import { unknownNames } from './unknown-names.js';

/**
 * The typed configuration of a service. Throws a `ConfigError` with every fault there is.
 *
 * A `DEADMAN_…` variable of another service is fine, since services share environment files; one of no service is a fault.
 */
export function parseConfig<D extends ConfigDefinition>(
  definition: D,
  env: Environment,
  readTextFile: ReadTextFile = (path) => readFileSync(path, 'utf8'),
): ConfigOf<D> {
  const slices = Object.entries(definition.slices).map(
    ([name, slice]) => [name, readSlice(slice, env, readTextFile)] as const,
  );
  const values = Object.fromEntries(slices.map(([name, slice]) => [name, slice.values]));
  const faults = [...slices.flatMap(([, slice]) => slice.faults), ...unknownNames(env, knownNames(definition))];
  faults.push(...brokenRelations(definition.relations, values, faults));
  if (faults.length > 0) throw new ConfigError(distinct(faults));
  return Object.freeze(values) as ConfigOf<D>;
}

interface SliceReading {
  readonly values: Readonly<Record<string, unknown>>;
  readonly faults: readonly ConfigFault[];
}

function readSlice(slice: Slice, env: Environment, readTextFile: ReadTextFile): SliceReading {
  const values: Record<string, unknown> = {};
  const faults: ConfigFault[] = [];
  for (const [property, variable] of Object.entries(slice.variables)) {
    const reading = readVariable(variable, env, readTextFile);
    if ('fault' in reading) faults.push(reading.fault);
    else values[property] = reading.value;
  }
  faults.push(...brokenRelations(slice.relations, values, faults));
  return { values: Object.freeze(values), faults };
}

/** Relations whose variables are all valid and that do not hold. */
function brokenRelations<Values>(
  relations: readonly Relation<Values>[],
  values: Values,
  faults: readonly ConfigFault[],
): ConfigFault[] {
  const faulty = new Set(faults.flatMap(({ variables }) => variables));
  return relations
    .filter((relation) => !relation.variables.some((name) => faulty.has(name)) && !relation.holds(values))
    .map(({ variables, rule }) => ({ variables, message: `${variables.join(' and ')}: ${rule}` }));
}

/** The names of this service's variables and of all shared ones, twins included. */
function knownNames(definition: ConfigDefinition): string[] {
  const slices: Slice[] = [...Object.values(definition.slices), ...SHARED_SLICES];
  const variables = slices.flatMap((slice) => Object.values(slice.variables));
  return [...new Set(variables.flatMap((variable) => [variable.name, fileTwinOf(variable) ?? variable.name]))];
}

/** Two slices may read one variable; its fault is told once. */
function distinct(faults: readonly ConfigFault[]): ConfigFault[] {
  return [...new Map(faults.map((fault) => [fault.message, fault])).values()];
}
