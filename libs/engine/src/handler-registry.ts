import { DeadmanError } from '@deadman/domain';
import type { Handler } from '@deadman/domain';

const TYPE = /^[a-z0-9]+(?:[._-][a-z0-9]+)*$/;
const MAX_TYPE_LENGTH = 128;

/** Maps job types to the handlers that run them. */
export class HandlerRegistry {
  readonly #handlers = new Map<string, Handler>();

  /** @throws DeadmanError `handler-invalid` for a type that no job can have, and for one that is taken. */
  register(handler: Handler): void {
    const { type } = handler;
    if (typeof type !== 'string' || type.length > MAX_TYPE_LENGTH || !TYPE.test(type)) {
      throw new DeadmanError('handler-invalid', `A handler's type must match ${TYPE.source}, got '${String(type)}'`);
    }
    if (this.#handlers.has(type)) throw new DeadmanError('handler-invalid', `Two handlers for the type '${type}'`);
    this.#handlers.set(type, handler);
  }

  find(type: string): Handler | undefined {
    return this.#handlers.get(type);
  }

  types(): readonly string[] {
    return [...this.#handlers.keys()];
  }
}
