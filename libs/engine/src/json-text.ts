import { unstorableReason } from '@deadman/domain';
import { utf8Bytes } from './attempt-result.js';

/**
 * The JSON text of a value that a handler wants kept.
 *
 * @param what names the value in the error.
 * @throws TypeError when it cannot be written as JSON, cannot be stored or is too long: a mistake of the handler.
 */
export function jsonText(what: string, value: unknown, maxBytes: number): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`${what} must be a value that JSON can hold`);
  if (unstorableReason(text) !== null) throw new TypeError(`${what} must be text that can be stored`);
  const bytes = utf8Bytes(text);
  if (bytes > maxBytes) throw new TypeError(`${what} has ${bytes} bytes, at most ${maxBytes} are kept`);
  return text;
}
