import { isUtf8 } from 'node:buffer';
import { fault } from '../problems/fault.js';
import type { Fault } from '../problems/fault.js';

/** A request body: the text as it was received, and the value it stands for; or what is wrong with it. */
export class JsonBody {
  private constructor(
    readonly text: string,
    readonly value: unknown,
    readonly fault: Fault | null,
  ) {}

  /** Never throws: a body that is no JSON is one fault among the request's others. */
  static parse(bytes: Buffer): JsonBody {
    if (bytes.length === 0) return JsonBody.#faulty(fault('missing-body', { pointer: '' }));
    if (!isUtf8(bytes))
      return JsonBody.#faulty(fault('malformed-json', { pointer: '' }, 'The body is not valid UTF-8.'));
    const text = bytes.toString('utf8');
    try {
      return new JsonBody(text, JSON.parse(text), null);
    } catch (error) {
      return JsonBody.#faulty(fault('malformed-json', { pointer: '' }, whereItBreaks(error)));
    }
  }

  static #faulty(found: Fault): JsonBody {
    return new JsonBody('', undefined, found);
  }
}

/** The place alone: the engine's own message quotes the body, which may hold what no log should. */
function whereItBreaks(error: unknown): string {
  const place = /\(line \d+ column \d+\)/.exec(error instanceof Error ? error.message : '');
  return place === null ? 'The body is not valid JSON.' : `The body is not valid JSON ${place[0]}.`;
}
