/** What was handed in cannot be used: a person mends it, and nothing has been run. */
export class InputError extends Error {
  override readonly name = 'InputError';
}
