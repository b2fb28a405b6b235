/** The projects of a workspace, as the boundary check needs them. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { madeFolders, projectFolders, writtenFiles } from '../workspace.mjs';

/**
 * @typedef {object} Project
 * @property {string} folder relative to the workspace
 * @property {string} src absolute
 * @property {string} name
 * @property {string[]} tags
 * @property {Set<string>} declared names of the packages its package.json lists for production
 * @property {Set<string>} declaredForSpecs and for development
 * @property {string[] | null} references folders its tsconfig.json builds upon, relative to the project; null outside
 * @property {string[]} files absolute paths of its TypeScript files
 * @property {string[]} misnamed and of code in `src` that has another ending, which nothing here reads
 * @property {string[]} unread and of folders in `src` that are called as those which tools make, so that nothing reads them
 */

const CODE_OF_OTHER_KINDS = /\.([cm]?jsx?|[cm]ts|tsx)$/;

/** Folders that start the real processes from outside. They are no workspaces, so nobody can depend on them. */
const OUTSIDE = ['e2e', 'bench'];

/** @returns {{ root: string, projects: Project[], byName: Map<string, Project>, rootTools: Set<string> }} */
export function readWorkspace(root) {
  const inside = projectFolders(root).map((folder) => readProject(root, folder));
  const rootTools = namesIn(readJson(join(root, 'package.json')).devDependencies);
  const available = new Set([...inside.map(({ name }) => name), ...rootTools]);
  const outside = OUTSIDE.filter((folder) => existsSync(join(root, folder)));
  return {
    root,
    projects: [...inside, ...outside.map((folder) => readOutside(root, folder, available))],
    byName: new Map(inside.map((project) => [project.name, project])),
    rootTools,
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
    ...readFiles(src, src),
  };
}

/** Has no package.json, so everything installed at the root counts as declared. */
function readOutside(root, folder, available) {
  const src = join(root, folder);
  const declares = { declared: available, declaredForSpecs: new Set(), references: null };
  return { folder, src, name: folder, tags: ['type:outside'], ...declares, ...readFiles(src, join(src, 'src')) };
}

function readFiles(folder, src) {
  return {
    files: writtenFiles(folder).filter((file) => file.endsWith('.ts')),
    misnamed: writtenFiles(src).filter((file) => CODE_OF_OTHER_KINDS.test(file)),
    unread: madeFolders(src),
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
