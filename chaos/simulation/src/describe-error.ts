/** An error in words, with the place it comes from where that is known. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.name}: ${error.message}\n${error.stack ?? ''}`;
}
