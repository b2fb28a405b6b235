const ESCAPED = /[~/]/;

/** One more step of a JSON Pointer (RFC 6901). */
export function pointTo(parent: string, step: string | number): string {
  if (typeof step === 'number') return `${parent}/${step}`;
  return `${parent}/${ESCAPED.test(step) ? step.replaceAll('~', '~0').replaceAll('/', '~1') : step}`;
}

/** The pointer of a path inside `parent`. */
export function pointAlong(parent: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (pointer, step) => pointTo(pointer, typeof step === 'number' ? step : String(step)),
    parent,
  );
}
