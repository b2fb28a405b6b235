import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

const GROUPS = ['apps', 'libs'];

/** Of each project: what runs, and what says where that is. */
const PARTS = ['dist', 'package.json'];

const HARNESS = join('chaos', 'harness', 'handlers');

/**
 * Copies the compiled code to `folder`, for services that are started again and again during a run: an edit or a build in
 * the meantime changes nothing of what is measured, and a mutant is a copy with one edit more. Packages of others are
 * found where they are, because the copy lies inside the repository.
 */
export function freezeCode(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const group of GROUPS) {
    for (const name of readdirSync(join(ROOT, group))) copyProject(join(group, name), folder, name);
  }
  cpSync(join(ROOT, HARNESS), join(folder, HARNESS), { recursive: true });
}

/** The handlers' module in such a copy. */
export function handlersIn(folder: string): string {
  return join(folder, HARNESS, 'chaos-handlers.mjs');
}

function copyProject(project: string, folder: string, name: string): void {
  if (!existsSync(join(ROOT, project, 'dist'))) return;
  const place = join(folder, project);
  for (const part of PARTS) cpSync(join(ROOT, project, part), join(place, part), { recursive: true });
  const own = join(ROOT, project, 'node_modules');
  if (existsSync(own)) symlinkSync(own, join(place, 'node_modules'));
  const packages = join(folder, 'node_modules', '@deadman');
  mkdirSync(packages, { recursive: true });
  // Relative, so that a copy of the copy finds its own.
  symlinkSync(join('..', '..', project), join(packages, name));
}
