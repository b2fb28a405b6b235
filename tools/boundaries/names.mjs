/**
 * Which globals the code of one file names, read from the JavaScript that it compiles to. There no type is left, and
 * nothing that only promises a value: behind `declare const fetch`, an interface or an imported type of that name stands
 * the global, and it shows. (A type imported without the word `type` keeps its import here; the compiler refuses one that
 * has the name of a global in use, TS2866.)
 */
import { parseSync, transformSync } from '@swc/core';
import { foldedTextOf } from './tree.mjs';

/**
 * @typedef {object} Names
 * @property {Set<string>} globals names that nothing in the file declares, and `import.meta`
 * @property {Set<string>} loose those of them that are more than asked for one named member, given arguments by `new`,
 * or compared with by `instanceof`: such a name may have been handed on, and what is asked of it later is not seen
 * @property {Set<string>} members `Name.member` accesses of globals, `new Name()` without an argument, and `new Name(,)` with
 * several
 * @property {Set<string>} words every name and every text, whatever it stands for; a text that is put together of others
 * counts as a whole, too
 */

const TO_JAVASCRIPT = {
  swcrc: false,
  configFile: false,
  jsc: { target: 'esnext', parser: { syntax: 'typescript', decorators: true } },
};

/** swc numbers the scopes of a file, and gives this number to each name that belongs to none of them. */
const NO_SCOPE = parse('free').body[0].expression.ctxt;

/** @returns {Names} */
export function readNames(text) {
  const names = { globals: new Set(), loose: new Set(), members: new Set(), words: new Set() };
  visit(parse(transformSync(text, TO_JAVASCRIPT).code), names);
  return names;
}

function parse(text) {
  return parseSync(text, { syntax: 'ecmascript', target: 'esnext' });
}

function visit(node, names) {
  if (Array.isArray(node)) return node.forEach((child) => visit(child, names));
  if (node === null || typeof node !== 'object') return;
  note(node, names);
  for (const child of childrenOf(node)) visit(child, names);
}

function note(node, names) {
  switch (node.type) {
    case 'MemberExpression':
      if (isMemberOfGlobal(node)) noteUse(bare(node.object), `${bare(node.object).value}.${memberName(node)}`, names);
      break;
    case 'NewExpression':
      if (isGlobal(node.callee)) noteUse(bare(node.callee), newName(node), names);
      break;
    case 'BinaryExpression':
      if (isInstanceofGlobal(node)) noteUse(bare(node.right), null, names);
      noteText(node, names);
      break;
    case 'MetaProperty':
      if (node.kind === 'import.meta') names.globals.add(node.kind);
      break;
    case 'Identifier':
      names.words.add(node.value);
      if (isGlobal(node)) noteLoose(node, names);
      break;
    case 'StringLiteral':
    case 'TemplateLiteral':
      noteText(node, names);
      break;
  }
}

function noteText(node, names) {
  const text = foldedTextOf(node);
  if (text !== null) names.words.add(text);
}

function noteUse({ value }, member, names) {
  names.globals.add(value);
  if (member) names.members.add(member);
}

function noteLoose({ value }, names) {
  names.globals.add(value);
  names.loose.add(value);
}

function isMemberOfGlobal(node) {
  return isGlobal(node.object) && memberName(node) !== null;
}

function isInstanceofGlobal(node) {
  return node.operator === 'instanceof' && isGlobal(node.right);
}

/** Names of members and of keys belong to no scope either, and have no number at all. */
function isGlobal(node) {
  const { type, ctxt } = bare(node);
  return type === 'Identifier' && ctxt === NO_SCOPE;
}

/** Null when it is computed, so that the syntax tree does not tell. */
function memberName({ property }) {
  return property.type === 'Computed' ? foldedTextOf(property.expression) : property.value;
}

/** Null with one argument. Arguments that are spread may be none at all, and may be several. */
function newName({ callee, arguments: given }) {
  const count = given?.filter(({ spread }) => spread === null).length ?? 0;
  if (count === 1 && given.length === 1) return null;
  return `new ${bare(callee).value}(${count === 0 ? '' : ','})`;
}

function bare(node) {
  return node.type === 'ParenthesisExpression' ? bare(node.expression) : node;
}

/** Leaves out what `note` took in its context, and names that only look like a use: of exports and of constructors. */
function childrenOf(node) {
  switch (node.type) {
    case 'MemberExpression':
      return [isMemberOfGlobal(node) ? null : node.object, node.property];
    case 'NewExpression':
      return [isGlobal(node.callee) ? null : node.callee, node.arguments];
    case 'BinaryExpression':
      return [node.left, isInstanceofGlobal(node) ? null : node.right];
    case 'ExportSpecifier':
      return [node.orig];
    case 'Constructor':
      return [node.params, node.body];
    default:
      return Object.values(node);
  }
}
