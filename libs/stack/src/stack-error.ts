/**
 * The stack cannot be had. The message is written for the person at the terminal: what is wrong, what to type, and,
 * where a server spoke last, what it said.
 */
export class StackError extends Error {
  override readonly name = 'StackError';
}
