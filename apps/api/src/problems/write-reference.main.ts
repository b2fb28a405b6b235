/** Writes `docs/reference/problems.md`, or the file that is named. Run it on the compiled code, from the repository's root. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { problemsReference } from './problems-reference.js';

const path = process.argv[2] ?? 'docs/reference/problems.md';
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, problemsReference());
