/**
 * Checks who imports whom, and which globals the domain and the engine name, against the rules in
 * `tools/boundaries/rules.mjs`, and prints what breaks them. nx knows the projects' dependencies from their package.json
 * alone, so an import that is not declared there would go unseen.
 */
import { relative } from 'node:path';
import { faultsOfProject, faultsOfSource } from './boundaries/faults.mjs';
import { readSource } from './boundaries/source.mjs';
import { readWorkspace } from './boundaries/projects.mjs';

export function findFaults(root) {
  const workspace = readWorkspace(root);
  return workspace.projects.flatMap((project) => [
    ...faultsOfProject(project, workspace),
    ...project.misnamed.map((file) => `${relative(root, file)}: is code whose name does not end in .ts`),
    ...project.unread.map(
      (folder) => `${relative(root, folder)}: is called like a folder of made files, and is not read`,
    ),
    ...project.files.flatMap((file) =>
      faultsOfSource(readSource(file), project, workspace).map((fault) => `${relative(root, file)}: ${fault}`),
    ),
  ]);
}

if (process.argv[1] === import.meta.filename) {
  const faults = findFaults(process.cwd());
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
