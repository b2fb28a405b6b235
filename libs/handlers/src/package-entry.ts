/** What Node matches when it imports, and what it would match when it requires, as a last resort. */
const CONDITIONS = new Set(['node', 'import', 'module-sync', 'default']);

/**
 * The file that a package.json names for the package itself: the `.` of `exports`, else `main`; null when it names none.
 * Node resolves a package only by its name and from where it is installed; a folder somewhere else has neither.
 */
export function packageEntry(manifest: unknown): string | null {
  if (!isObject(manifest)) return null;
  if (manifest['exports'] !== undefined) return targetOf(mainExport(manifest['exports']));
  return typeof manifest['main'] === 'string' ? manifest['main'] : null;
}

function mainExport(exports: unknown): unknown {
  const hasSubpaths = isObject(exports) && Object.keys(exports).some((key) => key.startsWith('.'));
  return hasSubpaths ? exports['.'] : exports;
}

/** The first condition that matches, in the order of the manifest, as Node has it. */
function targetOf(target: unknown): string | null {
  if (typeof target === 'string') return target;
  if (!isObject(target)) return null;
  for (const [condition, inner] of Object.entries(target)) {
    const found = CONDITIONS.has(condition) ? targetOf(inner) : null;
    if (found !== null) return found;
  }
  return targetOf(target['require']);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
