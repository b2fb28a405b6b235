/** The rules applied: each function returns sentences, one per fault. */
import { builtinModules } from 'node:module';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { isSpec } from './projects.mjs';
import {
  ALLOWED_MEMBERS,
  CLOCK_AND_DICE_GLOBALS,
  CLOCK_AND_DICE_MODULES,
  DRIVERS,
  IMPORTS_NOTHING,
  IMPORT_UNKNOWN,
  MAY_IMPORT,
  PLATFORM_GLOBALS,
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
    ...(has(project, PORTS_ONLY) && !spec ? clockAndDiceFaults(source) : []),
    ...(has(project, IMPORTS_NOTHING) && !spec ? platformFaults(source, project) : []),
  ];
}

function nestedIndexFaults({ file }, project) {
  const inner = relative(project.src, file);
  const nested = project.folder.startsWith(`libs${sep}`) && inner !== 'index.ts' && inner.endsWith(`${sep}index.ts`);
  return nested ? ['a lib has one index, at its top'] : [];
}

function importFaults(specifier, context) {
  if (specifier.startsWith('.')) return relativeFaults(specifier, context);
  const { project, spec } = context;
  if (has(project, IMPORTS_NOTHING) && !spec) return [`imports ${specifier}: ${project.name} imports nothing`];
  return isBuiltin(specifier) ? builtinFaults(specifier, context) : packageFaults(specifier, context);
}

function relativeFaults(specifier, { source, project, spec }) {
  const target = relative(project.src, join(dirname(source.file), specifier));
  if (target.startsWith('..')) return [`imports ${specifier}: leaves the project`];
  const ownIndex = /^index(\.js|\.ts)?$/.test(target) || target === '';
  return ownIndex && !spec ? [`imports ${specifier}: its own index, where the file itself is meant`] : [];
}

function builtinFaults(specifier, { project, spec }) {
  const isClockOrDice = CLOCK_AND_DICE_MODULES.includes(specifier.replace(/^node:/, ''));
  if (!isClockOrDice || spec || !has(project, PORTS_ONLY)) return [];
  return [`imports ${specifier}: time, chance and ids come from ports`];
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

function clockAndDiceFaults(source) {
  const used = [
    ...CLOCK_AND_DICE_GLOBALS.filter((name) => source.globals.has(name)),
    ...Object.keys(ALLOWED_MEMBERS).filter((name) => source.loose.has(name)),
    ...[...source.members].filter(isClockOrDiceMember),
  ];
  return used.map((name) => `uses ${name}: time, chance and ids come from ports`);
}

function isClockOrDiceMember(use) {
  if (use === 'new Date()') return true;
  const [name, member] = use.split('.');
  return Object.hasOwn(ALLOWED_MEMBERS, name) && !ALLOWED_MEMBERS[name].includes(member);
}

function platformFaults(source, project) {
  const used = PLATFORM_GLOBALS.filter((name) => source.globals.has(name));
  return used.map((name) => `uses ${name}: ${project.name} knows no platform`);
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
