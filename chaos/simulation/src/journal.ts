import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from './input-error.js';
import { runSeeds } from './run-seeds.js';
import type { TimedTotals } from './run-seeds.js';
import { Totals } from './totals.js';
import type { TotalsRecord } from './totals.js';

/** Seeds that are written down at once: under half a minute's work for one thread. */
const BLOCK = 500;

/** Of each line, and so of each journal. */
const BEGINNING = '{"code":';

/** What a stretch of seeds came to. */
interface Block {
  /** The code that ran them. */
  readonly code: string;
  readonly firstSeed: number;
  readonly seconds: number;
  readonly totals: TotalsRecord;
}

/**
 * What a long run has done so far, a line of JSON for each block of seeds: whatever interrupts it loses one block. What an
 * interruption cut off in the middle of its line is run again.
 *
 * @throws InputError when the file is no journal, which is then left as it is, or when a block was run by other code, since
 * sums over two codes say nothing of either.
 */
function readJournal(file: string, code: string): ReadonlyMap<number, Block> {
  if (!existsSync(file)) return new Map();
  const text = readFileSync(file, 'utf8');
  if (text !== '' && !text.startsWith(BEGINNING)) throw new InputError(`${file} is no journal of a run`);
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  const blocks = whole
    .split('\n')
    .filter(Boolean)
    .map((line) => toBlock(line, file));
  const other = blocks.find((block) => block.code !== code);
  if (other !== undefined)
    throw new InputError(`${file} is of other code (${other.code}, not ${code}); take a new file`);
  if (whole !== text) writeFileSync(file, whole);
  return new Map(blocks.map((block) => [block.firstSeed, block]));
}

function toBlock(line: string, file: string): Block {
  const block = parsed(line);
  if (isBlock(block)) return block;
  throw new InputError(`${file} has a line that is no block of a run: ${line.slice(0, 80)}`);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** As far as a program that writes whole lines can have gone wrong. */
function isBlock(value: unknown): value is Block {
  const block = value as Block | null;
  if (typeof block?.code !== 'string' || typeof block.seconds !== 'number') return false;
  const { totals } = block;
  const known = new Totals().toRecord();
  return (Object.keys(known) as (keyof TotalsRecord)[]).every((name) => typeof totals?.[name] === typeof known[name]);
}

function writeBlock(file: string, block: Block): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(block)}\n`);
}

export interface JournalledRun {
  readonly file: string;
  readonly code: string;
  /** The first seed. */
  readonly seed: number;
  readonly schedules: number;
  readonly threads: number;
  readonly say: (line: string) => void;
}

/** Runs seeds in blocks, each of which is written down when it is done, and not run again. The seconds are those of all blocks. */
export async function runJournalled(run: JournalledRun): Promise<TimedTotals> {
  const { file, code, seed, schedules } = run;
  const known = readJournal(file, code);
  const totals = new Totals();
  let seconds = 0;
  for (let firstSeed = seed; firstSeed < seed + schedules; firstSeed += BLOCK) {
    const size = Math.min(BLOCK, seed + schedules - firstSeed);
    const found = known.get(firstSeed);
    const block = found?.totals.schedules === size ? found : await runBlock(run, firstSeed, size);
    totals.addAll(block.totals);
    seconds += block.seconds;
  }
  return { totals, seconds };
}

async function runBlock({ file, code, threads, say }: JournalledRun, firstSeed: number, size: number): Promise<Block> {
  const { totals, seconds } = await runSeeds({ firstSeed, schedules: size, threads });
  const block = { code, firstSeed, seconds, totals: totals.toRecord() };
  writeBlock(file, block);
  const range = `seeds ${firstSeed} to ${firstSeed + size - 1}`;
  say(`${range}: ${totals.failures.length} broke a rule, ${seconds.toFixed(1)} s`);
  return block;
}
