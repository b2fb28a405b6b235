import { pathToFileURL } from 'node:url';
import { DeadmanError } from '@deadman/domain';
import { handlerExports } from './handler-exports.js';
import type { HandlerExport } from './handler-exports.js';
import { findHandlerFiles } from './handler-files.js';

/**
 * Loads a team's handlers from what `DEADMAN_HANDLERS` names: a folder, a file or an installed package.
 *
 * Ready handlers, classes decorated with `@JobHandler` and Nest modules come back as they were found, in a fixed order;
 * `completeHandlers` makes handlers of all of them once the modules' providers exist.
 *
 * @throws DeadmanError `handler-invalid`, naming the file and what is wrong with it.
 */
export async function loadHandlers(named: string, cwd: string): Promise<readonly HandlerExport[]> {
  const { files, areLoose } = findHandlerFiles(named, cwd);
  const found: HandlerExport[] = [];
  for (const file of files) {
    // One after the other, so that files are run in the order of their names.
    found.push(...handlerExports(await importFile(file), file));
  }
  if (found.length === 0) {
    const what = areLoose ? `No file in ${named} exports a handler` : `${files.join()} exports no handler`;
    throw new DeadmanError('handler-invalid', what);
  }
  return uniqueByValue(found);
}

async function importFile(file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (cause) {
    const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    throw new DeadmanError('handler-invalid', `${file} cannot be loaded: ${why}`, { cause });
  }
}

/** An export under two names is one handler. */
function uniqueByValue(found: readonly HandlerExport[]): readonly HandlerExport[] {
  const seen = new Set<unknown>();
  return found.filter(({ value }) => !seen.has(value) && seen.add(value));
}
