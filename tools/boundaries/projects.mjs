/** The projects of a workspace, as the boundary check needs them. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { projectFolders, writtenFiles } from '../workspace.mjs';

/**
 * @typedef {object} Project
 * @property {string} folder relative to the workspace
 * @property {string} src absolute
 * @property {string} name
 * @property {string[]} tags
 * @property {Set<string>} declared names of the packages its package.json lists for production
 * @property {Set<string>} declaredForSpecs and for development
 * @property {string[]} references folders its tsconfig.json builds upon, relative to the project
 * @property {string[]} files absolute paths of its TypeScript files
 */

/** @returns {{ root: string, projects: Project[], byName: Map<string, Project>, rootTools: Set<string> }} */
export function readWorkspace(root) {
  const projects = projectFolders(root).map((folder) => readProject(root, folder));
  return {
    root,
    projects,
    byName: new Map(projects.map((project) => [project.name, project])),
    rootTools: new Set(Object.keys(readJson(join(root, 'package.json')).devDependencies ?? {})),
  };
}

/** Specs, and the contract suites that specs call. */
export function isSpec(file) {
  return /\.(spec|int-spec|e2e-spec|contract)\.ts$/.test(basename(file));
}

function readProject(root, folder) {
  const manifest = readJson(join(root, folder, 'package.json'));
  const src = join(root, folder, 'src');
  return {
    folder,
    src,
    name: manifest.name,
    tags: manifest.nx?.tags ?? [],
    declared: namesIn(manifest.dependencies, manifest.optionalDependencies, manifest.peerDependencies),
    declaredForSpecs: namesIn(manifest.devDependencies),
    references: readReferences(join(root, folder, 'tsconfig.json')),
    files: writtenFiles(src).filter((file) => file.endsWith('.ts')),
  };
}

function namesIn(...lists) {
  return new Set(lists.flatMap((list) => Object.keys(list ?? {})));
}

function readReferences(file) {
  return existsSync(file) ? (readJson(file).references ?? []).map(({ path }) => path) : [];
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
