/**
 * The embedded server cannot be had. The message is written for the person at the terminal: it says what is wrong,
 * what to do about it, and, where the server spoke last, what it said.
 */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
