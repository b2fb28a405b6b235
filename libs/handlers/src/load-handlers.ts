import { pathToFileURL } from 'node:url';
import { DeadmanError } from '@deadman/domain';
import { handlerExports } from './handler-exports.js';
import type { HandlerExport } from './handler-exports.js';
import { findHandlerFiles } from './handler-files.js';

/** Longest that one file may take: a top-level await that never ends would hold up the start without a word. Milliseconds. */
const LOAD_WITHIN_MS = 30_000;

/**
 * Loads a team's handlers from what `DEADMAN_HANDLERS` names: a folder, a file or an installed package.
 *
 * Ready handlers, classes decorated with `@JobHandler` and Nest modules come back as they were found, in a fixed order;
 * `completeHandlers` makes handlers of all of them once the modules' providers exist.
 *
 * @throws DeadmanError `handler-invalid`, naming the file and what is wrong with it.
 */
export async function loadHandlers(
  named: string,
  cwd: string,
  { withinMs = LOAD_WITHIN_MS } = {},
): Promise<readonly HandlerExport[]> {
  const { files, areLoose } = findHandlerFiles(named, cwd);
  const found: HandlerExport[] = [];
  for (const file of files) {
    // One after the other, so that files are run in the order of their names.
    found.push(...handlerExports(await importFile(file, withinMs), file));
  }
  if (found.length === 0) {
    const what = areLoose ? `No file in ${named} exports a handler` : `${files.join()} exports no handler`;
    throw new DeadmanError('handler-invalid', what);
  }
  return uniqueByValue(found);
}

async function importFile(file: string, withinMs: number): Promise<Record<string, unknown>> {
  const loading = import(pathToFileURL(file).href) as Promise<Record<string, unknown>>;
  try {
    return await within(loading, withinMs);
  } catch (cause) {
    const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    throw new DeadmanError('handler-invalid', `${file} cannot be loaded: ${why}`, { cause });
  }
}

/** The timer also keeps the process alive: Node ends one that waits for nothing else, and names the wrong file. */
async function within<Value>(work: Promise<Value>, limitMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const tooLate = new Error(`it is not done after ${limitMs / 1_000} s. Does a top-level await in it never end?`);
    timer = setTimeout(() => reject(tooLate), limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** An export under two names is one handler. */
function uniqueByValue(found: readonly HandlerExport[]): readonly HandlerExport[] {
  const seen = new Set<unknown>();
  return found.filter(({ value }) => !seen.has(value) && seen.add(value));
}
