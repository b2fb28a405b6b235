/** Why PostgreSQL cannot store a text: it has no NUL, and UTF-8 has no lone surrogate. */
export type UnstorableReason = 'nul' | 'lone-surrogate';

/** The first reason why a text cannot be stored, or null when it can. */
export function unstorableReason(text: string): UnstorableReason | null {
  if (text.includes('\0')) return 'nul';
  return text.isWellFormed() ? null : 'lone-surrogate';
}

/** The same text with each NUL and lone surrogate replaced by U+FFFD and cut to `maxLength` UTF-16 units, for errors and other notes that must be storable whatever they say. */
export function toStorableText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replaceAll('\0', '\uFFFD').toWellFormed();
}
