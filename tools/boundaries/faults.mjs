/** The rules applied: each function returns sentences, one per fault. */
import { builtinModules } from 'node:module';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { readNames } from './names.mjs';
import { isSpec } from './projects.mjs';
import {
  ALLOWED_GLOBALS,
  ALLOWED_MEMBERS,
  DRIVERS,
  FORBIDDEN_WORDS,
  IMPORTS_NOTHING,
  IMPORT_UNKNOWN,
  MAY_IMPORT,
  PORTS_ONLY,
  SPECS_MAY_ALSO_IMPORT,
  WITHOUT_DRIVERS,
} from './rules.mjs';

/** What the project declares: one known tag, dependencies its tag allows, and the same ones as build references. */
export function faultsOfProject(project, workspace) {
  const known = project.tags.filter((tag) => tag in MAY_IMPORT);
  if (known.length !== 1) return [`${project.folder}: needs exactly one known type tag, has "${project.tags}"`];
  if (project.references === null) return [];
  const siblings = [...project.declared].filter((name) => workspace.byName.has(name));
  const expected = siblings.map((name) => workspace.byName.get(name).folder);
  const referenced = project.references.map((path) => normalize(join(project.folder, path)));
  return [
    ...siblings
      .filter((name) => !mayImport(project, workspace.byName.get(name), false))
      .map((name) => `${project.folder}: ${project.tags} may not depend on ${name}`),
    ...(isSameSet(expected, referenced)
      ? []
      : [
          `${project.folder}: tsconfig.json references [${referenced.join()}], package.json means [${expected.join()}]`,
        ]),
  ];
}

/** What one file does. A spec may look at its lib from outside, through the index. */
export function faultsOfSource(source, project, workspace) {
  const spec = isSpec(source.file);
  return [
    ...(source.exportsAll ? ['has an `export *`: name what is exported'] : []),
    ...nestedIndexFaults(source, project),
    ...(source.importsUnknown && !mayImportUnknown(source.file, workspace)
      ? ['has an `import()` of what is not written out there: name the module in place']
      : []),
    ...source.imports.flatMap((specifier) => importFaults(specifier, { source, project, workspace, spec })),
    ...(has(project, PORTS_ONLY) && !spec ? namesFaults(readNames(source.text)) : []),
  ];
}

function nestedIndexFaults({ file }, project) {
  const inner = relative(project.src, file);
  const nested = project.folder.startsWith(`libs${sep}`) && inner !== 'index.ts' && inner.endsWith(`${sep}index.ts`);
  return nested ? ['a lib has one index, at its top'] : [];
}

function importFaults(specifier, context) {
  if (specifier.startsWith('.')) return relativeFaults(specifier, context);
  const { project, workspace, spec } = context;
  if (has(project, IMPORTS_NOTHING) && !spec) return [`imports ${specifier}: ${project.name} imports nothing`];
  if (has(project, PORTS_ONLY) && !spec && !workspace.byName.has(packageName(specifier))) {
    return [`imports ${specifier}: time, chance and ids come from ports`];
  }
  return isBuiltin(specifier) ? [] : packageFaults(specifier, context);
}

function relativeFaults(specifier, { source, project, spec }) {
  const target = relative(project.src, join(dirname(source.file), specifier));
  if (target.startsWith('..')) return [`imports ${specifier}: leaves the project`];
  if (!spec && isSpec(target.replace(/\.js$/, '.ts'))) return [`imports ${specifier}: production needs no spec`];
  const ownIndex = /^index(\.js|\.ts)?$/.test(target) || target === '';
  if (ownIndex && !spec) return [`imports ${specifier}: its own index, where the file itself is meant`];
  const isOfCode = spec || !has(project, PORTS_ONLY) || isRead(target, project);
  return isOfCode
    ? []
    : [`imports ${specifier}: names no .ts file of ${project.name} by its .js name, and is not read here`];
}

function isRead(target, { src, files }) {
  return target.endsWith('.js') && files.includes(join(src, target.replace(/\.js$/, '.ts')));
}

function packageFaults(specifier, { project, workspace, spec }) {
  const name = packageName(specifier);
  if (name === project.name) return spec ? [] : [`imports ${specifier}: its own index, where the file itself is meant`];
  const sibling = workspace.byName.get(name);
  if (sibling && !mayImport(project, sibling, spec)) {
    return [`imports ${specifier}: ${project.tags} may not use ${sibling.tags}`];
  }
  if (DRIVERS.includes(name) && has(project, WITHOUT_DRIVERS)) {
    return [`imports ${specifier}: an app reaches a driver through its adapter`];
  }
  const available = project.declared.has(name) || (spec && isFreeForSpecs(name, sibling, project, workspace));
  return available ? [] : [`imports ${specifier}: not declared in ${project.folder}/package.json`];
}

function isFreeForSpecs(name, sibling, project, workspace) {
  if (sibling) return has(sibling, SPECS_MAY_ALSO_IMPORT);
  return project.declaredForSpecs.has(name) || workspace.rootTools.has(name);
}

function namesFaults({ globals, loose, members, words }) {
  const used = [
    ...[...globals].filter((name) => !ALLOWED_GLOBALS.includes(name) && !isAllowedInPart(name)),
    ...[...loose].filter(isAllowedInPart),
    ...[...members].filter(isOtherMember),
  ];
  return [
    ...used.map(
      (name) => `uses ${name}: time, chance and ids come from ports, and ALLOWED_GLOBALS lists what else may be used`,
    ),
    ...Object.entries(FORBIDDEN_WORDS).flatMap(([why, forbidden]) =>
      forbidden.filter((word) => words.has(word)).map((word) => `uses ${word}: ${why}`),
    ),
  ];
}

function isAllowedInPart(name) {
  return Object.hasOwn(ALLOWED_MEMBERS, name);
}

function isOtherMember(use) {
  if (use.startsWith('new ')) return use.startsWith('new Date(');
  const [name, member] = use.split('.');
  return isAllowedInPart(name) && !ALLOWED_MEMBERS[name].includes(member);
}

function mayImportUnknown(file, { root }) {
  return IMPORT_UNKNOWN.includes(relative(root, file).replaceAll(sep, '/'));
}

function mayImport(project, sibling, spec) {
  const allowed = project.tags.flatMap((tag) => MAY_IMPORT[tag] ?? []);
  return has(sibling, spec ? [...allowed, ...SPECS_MAY_ALSO_IMPORT] : allowed);
}

function has(project, tags) {
  return project.tags.some((tag) => tags.includes(tag));
}

function isSameSet(one, other) {
  return one.length === other.length && one.every((item) => other.includes(item));
}

function isBuiltin(specifier) {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}

function packageName(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}
