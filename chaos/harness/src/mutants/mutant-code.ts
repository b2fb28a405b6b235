import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../run/frozen-code.js';
import type { Edit } from './mutants.js';

/** Makes a copy of frozen code in which these places are changed. Throws for one that no longer fits. */
export function mutateCode(frozen: string, folder: string, edits: readonly Edit[]): void {
  rmSync(folder, { recursive: true, force: true });
  cpSync(frozen, folder, { recursive: true, verbatimSymlinks: true });
  const texts = new Map<string, string>();
  for (const { file, from, to } of edits) {
    const text = texts.get(file) ?? readFileSync(join(ROOT, file), 'utf8');
    const parts = text.split(from);
    if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times, not once:\n${from}`);
    texts.set(file, parts.join(to));
  }
  for (const [file, text] of texts) writeCompiled(folder, file, text);
}

/** What is no TypeScript is used as it stands. */
function writeCompiled(folder: string, file: string, text: string): void {
  const place = join(folder, file.replace('/src/', '/dist/'));
  if (file.endsWith('.ts')) writeFileSync(place.replace(/\.ts$/, '.js'), stripTypeScriptTypes(text));
  else writeFileSync(place, text);
}
