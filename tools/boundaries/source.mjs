/** What one TypeScript file imports and which globals it touches, read from its syntax tree. */
import { readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';

/**
 * @typedef {object} Source
 * @property {string} file
 * @property {string[]} imports specifiers, of types and of dynamic imports too
 * @property {boolean} exportsAll whether it has an `export * from` or an `export * as name from`
 * @property {boolean} importsUnknown whether it has an `import()` of what is not written out there
 * @property {Set<string>} globals bare names it reads
 * @property {Set<string>} loose those of them that are more than asked for one named member, given arguments by `new`,
 * or compared with by `instanceof`: such a name may have been handed on, and what is asked of it later is not seen
 * @property {Set<string>} members `Name.member` accesses, and `new Name()` without an argument
 */

/** What only changes how an expression looks or is typed. */
const WRAPPERS = new Set([
  'ParenthesisExpression',
  'TsAsExpression',
  'TsConstAssertion',
  'TsInstantiation',
  'TsNonNullExpression',
  'TsSatisfiesExpression',
  'TsTypeAssertion',
]);

/** @returns {Source} */
export function readSource(file) {
  const tree = parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript', decorators: true, target: 'es2023' });
  const names = { globals: new Set(), loose: new Set(), members: new Set() };
  const source = { file, imports: [], exportsAll: false, importsUnknown: false, ...names };
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
      source.exportsAll ||= node.specifiers.some(({ type }) => type === 'ExportNamespaceSpecifier');
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
      if (isNamedMember(node)) noteUse(bare(node.object), `${bare(node.object).value}.${memberName(node)}`, source);
      break;
    case 'NewExpression':
      if (isNamed(node.callee)) noteUse(bare(node.callee), newName(node), source);
      break;
    case 'BinaryExpression':
      if (isNamedInstanceof(node)) noteUse(bare(node.right), null, source);
      break;
    case 'Identifier':
      source.globals.add(node.value);
      source.loose.add(node.value);
      break;
  }
}

function noteDynamicImport(node, source) {
  if (node.callee.type !== 'Import' && node.callee.value !== 'require') return;
  const specifier = textOf(node.arguments[0]?.expression);
  if (specifier === null) source.importsUnknown = true;
  else source.imports.push(specifier);
}

function noteUse({ value }, member, source) {
  source.globals.add(value);
  if (member) source.members.add(member);
}

function isNamedMember(node) {
  return isNamed(node.object) && memberName(node) !== null;
}

function isNamedInstanceof(node) {
  return node.operator === 'instanceof' && isNamed(node.right);
}

function isNamed(node) {
  return bare(node).type === 'Identifier';
}

/** Null when it is computed, so that the syntax tree does not tell. */
function memberName({ property }) {
  return property.type === 'Computed' ? textOf(property.expression) : property.value;
}

/** Arguments that are spread may be none at all. */
function newName({ callee, arguments: given }) {
  return given?.some(({ spread }) => spread === null) ? null : `new ${bare(callee).value}()`;
}

function bare(node) {
  return WRAPPERS.has(node.type) ? bare(node.expression) : node;
}

/** The text that an expression plainly is, or null. */
function textOf(node) {
  if (node?.type === 'StringLiteral') return node.value;
  return node?.type === 'TemplateLiteral' && node.expressions.length === 0 ? node.quasis[0].cooked : null;
}

/** Leaves out names that only look like globals: of members, of object keys, of imports, and in types. */
function childrenOf(node) {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'TsExpressionWithTypeArguments':
    case 'TsImportType':
    case 'TsInterfaceDeclaration':
    case 'TsTypeAnnotation':
    case 'TsTypeAliasDeclaration':
    case 'TsTypeParameterDeclaration':
    case 'TsTypeParameterInstantiation':
    case 'TsTypeReference':
      return typeImportsOf(node);
    case 'ExportNamedDeclaration':
      return node.source ? [] : node.specifiers.map(({ orig }) => orig);
    case 'MemberExpression':
      return [isNamedMember(node) ? null : node.object, node.property.type === 'Computed' ? node.property : null];
    case 'NewExpression':
      return [isNamed(node.callee) ? null : node.callee, node.arguments, node.typeArguments];
    case 'BinaryExpression':
      return [node.left, isNamedInstanceof(node) ? null : node.right];
    case 'KeyValuePatternProperty':
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
