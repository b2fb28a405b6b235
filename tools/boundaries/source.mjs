/** What one TypeScript file imports and which globals it touches, read from its syntax tree. */
import { readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';

/**
 * @typedef {object} Source
 * @property {string} file
 * @property {string[]} imports specifiers, of types and of dynamic imports too
 * @property {boolean} exportsAll whether it has an `export * from`
 * @property {Set<string>} globals bare names it reads
 * @property {Set<string>} members `Name.member` accesses, and `new Date()` without an argument
 */

/** @returns {Source} */
export function readSource(file) {
  const tree = parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript', decorators: true, target: 'es2023' });
  const source = { file, imports: [], exportsAll: false, globals: new Set(), members: new Set() };
  visit(tree, source);
  return source;
}

function visit(node, source) {
  if (Array.isArray(node)) return node.forEach((child) => visit(child, source));
  if (node === null || typeof node !== 'object') return;
  note(node, source);
  for (const child of childrenOf(node)) visit(child, source);
}

function note(node, source) {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
      if (node.source) source.imports.push(node.source.value);
      break;
    case 'ExportAllDeclaration':
      source.imports.push(node.source.value);
      source.exportsAll = true;
      break;
    case 'TsImportType':
      source.imports.push(node.argument.value);
      break;
    case 'TsExternalModuleReference':
      source.imports.push(node.expression.value);
      break;
    case 'CallExpression':
      noteDynamicImport(node, source);
      break;
    case 'MemberExpression':
      if (node.object.type === 'Identifier') source.members.add(`${node.object.value}.${memberName(node.property)}`);
      break;
    case 'NewExpression':
      if (node.callee.value === 'Date' && !node.arguments?.length) source.members.add('new Date()');
      break;
    case 'Identifier':
      source.globals.add(node.value);
      break;
  }
}

function noteDynamicImport(node, source) {
  const isImport = node.callee.type === 'Import' || node.callee.value === 'require';
  const [first] = node.arguments;
  if (isImport && first?.expression.type === 'StringLiteral') source.imports.push(first.expression.value);
}

function memberName(property) {
  return property.type === 'Computed' ? property.expression.value : property.value;
}

/** Leaves out names that only look like globals: of members, of object keys, of imports, and in types. */
function childrenOf(node) {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'TsInterfaceDeclaration':
    case 'TsTypeAnnotation':
    case 'TsTypeAliasDeclaration':
      return typeImportsOf(node);
    case 'MemberExpression':
      return node.property.type === 'Computed' ? [node.object, node.property] : [node.object];
    case 'KeyValueProperty':
      return [node.key.type === 'Computed' ? node.key : null, node.value];
    case 'ClassMethod':
    case 'ClassProperty':
    case 'MethodProperty':
      return Object.entries(node).flatMap(([key, value]) =>
        key === 'key' && value.type !== 'Computed' ? [] : [value],
      );
    default:
      return Object.values(node);
  }
}

/** In a type only `import('…')` matters. */
function typeImportsOf(node) {
  return Object.values(node).flatMap((value) => {
    if (value === null || typeof value !== 'object') return [];
    return value.type === 'TsImportType' ? [value] : typeImportsOf(value);
  });
}
