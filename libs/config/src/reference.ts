import type { ConfigDefinition } from './define-config.js';
import { fileTwinOf } from './read-variable.js';
import { REQUIRED } from './variable.js';
import type { Variable } from './variable.js';

/** The configuration of every service, by the service's name. */
export type Services = Readonly<Record<string, ConfigDefinition>>;

/** A variable with the services that read it, and those that cannot start without it. */
interface Entry {
  readonly variable: Variable<unknown>;
  readonly readBy: string[];
  readonly neededBy: string[];
}

/**
 * The reference page, in Markdown. Call it with every service's definition, as `tools/` does:
 * `renderConfigReference({ api: apiConfig, standalone: standaloneConfig })`.
 */
export function renderConfigReference(services: Services): string {
  const sections = [...sectionsOf(services)].map(([title, entries]) => {
    const rows = entries.map((entry) => row(entry));
    const rules = rulesOf(services, title).map((rule) => `- ${rule}.`);
    return [`## ${title}`, '', ...TABLE_HEAD, ...rows, ...(rules.length > 0 ? ['', ...rules] : []), ''].join('\n');
  });
  return [...PAGE_HEAD, ...sections].join('\n');
}

/** The `.env.example`: every variable commented out, with its default. */
export function renderEnvExample(services: Services): string {
  const sections = [...sectionsOf(services)].map(([title, entries]) =>
    [`# --- ${title} ---`, '', ...entries.flatMap((entry) => example(entry))].join('\n'),
  );
  return [ENV_HEAD, '', ...sections].join('\n');
}

const PAGE_HEAD = [
  '# Configuration',
  '',
  '<!-- Generated from the config schemas. Change those instead. -->',
  '',
  'Every setting is an environment variable. A service reads all of them before it starts anything; when one is wrong, it',
  'names every fault and ends with exit code 78. An empty variable counts as absent. A `DEADMAN_` name that no service',
  'knows is a fault. A variable with a `_FILE` twin may stand in the file that the twin names instead.',
  '',
];

const TABLE_HEAD = ['| variable | default | allowed | what | read by |', '|---|---|---|---|---|'];

const ENV_HEAD = '# Generated from the config schemas. Every line shows a default; take away the # to change it.';

/** Slices of one title belong together: they are the same concern as different services need it. */
function sectionsOf(services: Services): Map<string, Entry[]> {
  const sections = new Map<string, Entry[]>();
  for (const [service, { slices }] of Object.entries(services)) {
    for (const slice of Object.values(slices)) {
      const entries = sections.get(slice.title) ?? [];
      sections.set(slice.title, entries);
      for (const variable of Object.values(slice.variables)) note(entries, variable, service);
    }
  }
  return sections;
}

function note(entries: Entry[], variable: Variable<unknown>, service: string): void {
  let entry = entries.find((known) => known.variable.name === variable.name);
  if (entry === undefined) {
    entry = { variable, readBy: [], neededBy: [] };
    entries.push(entry);
  }
  entry.readBy.push(service);
  if (variable.fallback === REQUIRED) entry.neededBy.push(service);
}

function rulesOf(services: Services, title: string): string[] {
  const slices = Object.values(services).flatMap((service) => Object.values(service.slices));
  const relations = slices.filter((slice) => slice.title === title).flatMap((slice) => slice.relations);
  return [...new Set(relations.map(({ variables, rule }) => `${variables.map(code).join(', ')}: ${rule}`))];
}

function row({ variable, readBy, neededBy }: Entry): string {
  const twin = fileTwinOf(variable);
  const names = twin === null ? code(variable.name) : `${code(variable.name)} or ${code(twin)}`;
  const fallback = variable.fallbackText === null ? 'none' : code(variable.fallbackText);
  const needed = neededBy.length > 0 ? ` Required by ${neededBy.join(', ')}.` : '';
  const cells = [names, fallback, variable.allowed, `${variable.what}${needed}`, readBy.join(', ')];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function example({ variable }: Entry): string[] {
  const twin = fileTwinOf(variable);
  const fileHint = twin === null ? [] : [`# May stand in a file instead, named by ${twin}.`];
  return [`# ${variable.what}`, ...fileHint, `#${variable.name}=${variable.fallbackText ?? ''}`, ''];
}

function code(text: string): string {
  return `\`${text}\``;
}
