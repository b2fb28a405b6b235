import { DeadmanError, ERROR_CODES } from '@deadman/domain';
import type { EngineEvent, ErrorCode } from '@deadman/domain';
import type { WireError } from './messages.js';

/** Links of a chain of causes that are carried over. */
const MOST_CAUSES = 4;

/** An event whose error, if it has one, can cross to another thread. */
export function toWireEvent(event: EngineEvent): EngineEvent {
  return 'error' in event && event.error instanceof Error
    ? ({ ...event, error: toWire(event.error) } as EngineEvent)
    : event;
}

/** The event as it was, its error of the class and with the code that it had. */
export function fromWireEvent(event: EngineEvent): EngineEvent {
  return 'error' in event && isWireError(event.error)
    ? ({ ...event, error: fromWire(event.error) } as EngineEvent)
    : event;
}

function toWire(error: Error, depth = 0): WireError {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  const cause = error.cause instanceof Error && depth < MOST_CAUSES ? toWire(error.cause, depth + 1) : null;
  return { name: error.name, message: error.message, code, stack: error.stack ?? null, cause };
}

function fromWire({ name, message, code, stack, cause }: WireError): Error {
  const options = cause === null ? {} : { cause: fromWire(cause) };
  const isOurs = name === 'DeadmanError' && code !== null && Object.hasOwn(ERROR_CODES, code);
  const error = isOurs ? new DeadmanError(code as ErrorCode, message, options) : new Error(message, options);
  if (!isOurs) Object.assign(error, { name, ...(code !== null && { code }) });
  if (stack !== null) error.stack = stack;
  return error;
}

function isWireError(value: unknown): value is WireError {
  return (
    typeof value === 'object' && value !== null && !(value instanceof Error) && 'message' in value && 'cause' in value
  );
}
