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
