import { toStorableText } from '@deadman/domain';
import type { AttemptError } from '@deadman/domain';

/** Enough to read, little enough that a thousand failed jobs fit on a page of memory. UTF-16 units. */
const MAX = { name: 256, code: 128, message: 4_096, stack: 8_192, causes: 5, issues: 50 } as const;

/** Stands for an error that could not even be looked at. Nothing in it can fail to be stored. */
export const MINIMAL_ERROR: AttemptError = {
  name: 'Error',
  message: 'The attempt failed, and its error could not be recorded.',
  code: null,
  stack: null,
  causes: [],
  issues: [],
};

/**
 * Makes a storable record of whatever a handler threw: an error with a cause chain that may be circular, an
 * AggregateError, null, a string, a proxy whose getters throw, a stack of 5 MB. It cannot fail, because a job must never
 * stay RUNNING because its error could not be stored.
 */
export function captureError(thrown: unknown): AttemptError {
  try {
    return {
      name: nameOf(thrown),
      message: messageOf(thrown),
      code: codeOf(thrown),
      stack: textOf(thrown, 'stack', MAX.stack),
      causes: causesOf(thrown),
      issues: [],
    };
  } catch {
    return MINIMAL_ERROR;
  }
}

/** An error of our own making, for outcomes that are not thrown. */
export function attemptError(code: string, message: string, issues: AttemptError['issues'] = []): AttemptError {
  return {
    name: 'DeadmanError',
    message: toStorableText(message, MAX.message),
    code,
    stack: null,
    causes: [],
    issues: issues.slice(0, MAX.issues).map(({ pointer, message: text }) => ({
      pointer: toStorableText(pointer, MAX.message),
      message: toStorableText(text, MAX.message),
    })),
  };
}

function causesOf(thrown: unknown): AttemptError['causes'] {
  const causes: { name: string; message: string }[] = [];
  const seen = new Set<unknown>([thrown]);
  const queue = nextCauses(thrown);
  while (queue.length > 0 && causes.length < MAX.causes) {
    const cause = queue.shift();
    if (seen.has(cause)) continue;
    seen.add(cause);
    causes.push({ name: nameOf(cause), message: messageOf(cause) });
    queue.push(...nextCauses(cause));
  }
  return causes;
}

/** The errors of an AggregateError count as causes. */
function nextCauses(thrown: unknown): unknown[] {
  const errors = read(thrown, 'errors');
  const cause = read(thrown, 'cause');
  return [...(Array.isArray(errors) ? errors.slice(0, MAX.causes) : []), ...(cause == null ? [] : [cause])];
}

function nameOf(thrown: unknown): string {
  if (!isObject(thrown)) return 'NonError';
  return textOf(thrown, 'name', MAX.name) || 'Error';
}

function messageOf(thrown: unknown): string {
  if (!isObject(thrown)) return toStorableText(describe(thrown), MAX.message);
  return textOf(thrown, 'message', MAX.message) ?? 'The thrown value has no message.';
}

/** The codes of Node, of drivers and of ours are strings or numbers. */
function codeOf(thrown: unknown): string | null {
  const code = read(thrown, 'code');
  if (typeof code !== 'string' && typeof code !== 'number') return null;
  return toStorableText(String(code), MAX.code);
}

function textOf(thrown: unknown, property: string, maxLength: number): string | null {
  const text = read(thrown, property);
  return typeof text === 'string' ? toStorableText(text, maxLength) : null;
}

/** A property of anything; undefined when there is none or its getter throws. */
function read(thrown: unknown, property: string): unknown {
  if (!isObject(thrown)) return undefined;
  try {
    return (thrown as Record<string, unknown>)[property];
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function describe(value: unknown): string {
  return typeof value === 'string' ? value : `A handler threw ${String(value)}`;
}
