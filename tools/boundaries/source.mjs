/** What one TypeScript file imports, read from its syntax tree. */
import { readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import { nodesOf, textOf } from './tree.mjs';

/**
 * @typedef {object} Source
 * @property {string} file
 * @property {string} text
 * @property {string[]} imports specifiers, of types and of dynamic imports too
 * @property {boolean} exportsAll whether it has an `export * from` or an `export * as name from`
 * @property {boolean} importsUnknown whether it has an `import()` of what is not written out there
 */

/** @returns {Source} */
export function readSource(file) {
  const text = readFileSync(file, 'utf8');
  const source = { file, text, imports: [], exportsAll: false, importsUnknown: false };
  const tree = parseSync(text, { syntax: 'typescript', decorators: true, target: 'es2023' });
  for (const node of nodesOf(tree)) note(node, source);
  return source;
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
  }
}

function noteDynamicImport(node, source) {
  if (node.callee.type !== 'Import' && node.callee.value !== 'require') return;
  const specifier = textOf(node.arguments[0]?.expression);
  if (specifier === null) source.importsUnknown = true;
  else source.imports.push(specifier);
}
