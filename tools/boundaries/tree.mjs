/** Small questions to a syntax tree of swc. */

/** Of every kind, the outermost first. */
export function* nodesOf(node) {
  if (node === null || typeof node !== 'object') return;
  if (node.type) yield node;
  for (const child of Object.values(node)) yield* nodesOf(child);
}

/** The text that an expression plainly is, or null. */
export function textOf(node) {
  if (node?.type === 'StringLiteral') return node.value;
  return node?.type === 'TemplateLiteral' && node.expressions.length === 0 ? node.quasis[0].cooked : null;
}

/** The same of an expression that puts texts together, too: of `'a' + 'b'`, and of a template that is filled with them. */
export function foldedTextOf(node) {
  switch (node?.type) {
    case 'ParenthesisExpression':
      return foldedTextOf(node.expression);
    case 'BinaryExpression':
      return node.operator === '+' ? joined([node.left, node.right].map(foldedTextOf)) : null;
    case 'TemplateLiteral':
      return joined(node.quasis.flatMap(({ cooked }, at) => [cooked, ...filling(node, at)]));
    default:
      return textOf(node);
  }
}

/** What stands between this piece of a template and the next. */
function filling({ expressions }, at) {
  return at < expressions.length ? [foldedTextOf(expressions[at])] : [];
}

function joined(texts) {
  return texts.includes(null) ? null : texts.join('');
}
