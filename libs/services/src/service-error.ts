/** What a person or a test has to know; needs no stack. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
}
