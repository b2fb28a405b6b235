/** The program behind `npm run chaos`. Exits with 0 when every run was green, 1 when one was not, 2 for a wrong option. */
import { readRunning } from '@deadman/services';
import { Stack } from '@deadman/stack';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Campaign } from './campaign.js';
import type { Play } from './campaign.js';
import { OptionError, parseOptions, USAGE } from './options.js';
import type { Options } from './options.js';
import { findMutants } from './mutants/find-mutants.js';
import { freezeCode, ROOT } from './run/frozen-code.js';
import { holdHome } from './run/hold-home.js';
import { perform } from './run/perform.js';
import { SCENARIOS } from './scenarios/catalogue.js';
import type { Scenario } from './scenarios/scenario.js';
import { testedElsewhere } from './scenarios/tested-elsewhere.js';

const HOME = join(ROOT, '.deadman', 'chaos');
const RUNS = join(HOME, 'runs');

process.exitCode = await main();

async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    say(USAGE);
    return 0;
  }
  try {
    const options = parseOptions(args);
    return options.list ? list() : await play(options, chosen(options));
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    say(`${error.message}\n\n${USAGE}`);
    return 2;
  }
}

async function play(options: Options, scenarios: readonly Scenario[]): Promise<number> {
  holdHome(HOME);
  endLeftovers();
  const stop = stopOnSignal();
  const places = { stackDir: HOME, code: codeOf(options) };
  const folderOf = (name: string): string => join(RUNS, name);
  const playOne: Play = (scenario, seed) =>
    perform(scenario, seed, options, { ...places, folder: folderOf(`${scenario.name}-${seed}`) }, stop);
  try {
    const { mutants } = options;
    const isGreen = mutants
      ? await findMutants(mutants, { ...places, folder: folderOf('mutants') }, stop, say)
      : await new Campaign(options, playOne, say).run(scenarios, stop);
    return isGreen ? 0 : 1;
  } finally {
    await new Stack({ dataDir: HOME }).down();
  }
}

function chosen({ scenarios }: Options): readonly Scenario[] {
  if (scenarios.join() === 'all') return SCENARIOS;
  return scenarios.map((name) => {
    const found = SCENARIOS.find((scenario) => scenario.name === name);
    if (found === undefined) throw new OptionError(`There is no scenario "${name}"; --list names those there are`);
    return found;
  });
}

function codeOf({ code }: Options): string {
  if (code !== null) return resolve(code);
  const copy = join(HOME, 'code');
  freezeCode(copy);
  return copy;
}

/** Services outlive a run whose own process was killed. They would go on, and take the machine from the next one. */
function endLeftovers(): void {
  const folders = existsSync(RUNS) ? readdirSync(RUNS, { recursive: true, withFileTypes: true }) : [];
  for (const { name, parentPath } of folders) {
    if (name !== 'services.json') continue;
    for (const { pid } of readRunning(parentPath)) process.kill(pid, 'SIGKILL');
  }
}

function list(): number {
  for (const { name, number, title } of SCENARIOS) {
    say(`${name.padEnd(28)} ${String(number ?? '').padStart(2)}  ${title}`);
  }
  say('\nInjected by tests of this repository:');
  for (const { number, fault, command } of testedElsewhere())
    say(`${number.padStart(31)}  ${fault}\n${' '.repeat(33)}${command}`);
  return 0;
}

/** However often it is told to stop: one signal more would end it in the middle, and leave services and servers alone. */
function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  stop.signal.addEventListener('abort', () => say('\nEnding what was started …'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  return stop.signal;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
