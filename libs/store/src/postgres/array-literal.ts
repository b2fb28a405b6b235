export type Scalar = string | number | boolean | Date | null;

/**
 * A PostgreSQL array literal. The driver can make them too, and takes several times as long over each element, which on
 * the hot path is most of what it does.
 */
export function toArrayLiteral(values: readonly Scalar[]): string {
  let literal = '{';
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) literal += ',';
    literal += toElement(values[index]!);
  }
  return `${literal}}`;
}

function toElement(value: Scalar): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return quote(value);
  return value instanceof Date ? quote(toTimestamp(value)) : String(value);
}

const SPECIAL = /["\\]/g;

function quote(text: string): string {
  return `"${text.replace(SPECIAL, '\\$&')}"`;
}

/** PostgreSQL writes years beyond 9999 without the sign that ISO 8601 gives them, and knows no year 0. */
export function toTimestamp(at: Date): string {
  return at.getUTCFullYear() < 1 ? '-infinity' : at.toISOString().replace(/^\+0*/, '');
}
