import type { AttemptError } from '@deadman/domain';
import { attemptError, captureError } from './attempt-error.js';

/** The longest result, in bytes of UTF-8 (`protocol.md` §13). */
export const MAX_RESULT_BYTES = 65_536;

/**
 * The JSON text of a handler's result, or the error that says why it cannot be stored. `undefined` is stored as null,
 * since a handler that returns nothing has succeeded. Nothing is cut: half a result is worse than a clear error.
 */
export function resultText(value: unknown): { readonly text: string } | { readonly error: AttemptError } {
  try {
    const text = JSON.stringify(value) ?? 'null';
    const bytes = utf8Bytes(text);
    if (bytes <= MAX_RESULT_BYTES) return { text };
    return {
      error: attemptError(
        'result-too-large',
        `The result has ${bytes} bytes, at most ${MAX_RESULT_BYTES} can be stored.`,
      ),
    };
  } catch (thrown) {
    const { message } = captureError(thrown);
    return { error: attemptError('result-not-storable', `The result cannot be written as JSON: ${message}`) };
  }
}

/** The length of well-formed text in UTF-8, without the copy that an encoder would make. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) bytes += unit > 0x7ff ? 2 : 1;
    // A surrogate pair is two units and four bytes: its second unit adds nothing more.
    if (unit >= 0xd800 && unit <= 0xdbff) index += 1;
  }
  return bytes;
}
