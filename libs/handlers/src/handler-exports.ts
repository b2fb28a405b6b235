import { DeadmanError } from '@deadman/domain';
import type { Handler } from '@deadman/domain';
import { handlerOf, jobHandlerTypeOf } from '@deadman/sdk';

/** Something that was found, and where, for messages. */
export interface Found<Thing> {
  readonly value: Thing;
  readonly place: string;
}

// oxlint-disable-next-line typescript/no-explicit-any -- Only `any[]` stands for every constructor.
export type Class = new (...args: any[]) => object;

/** What one file exports that concerns handlers. */
export type HandlerExport =
  | ({ readonly kind: 'handler' } & Found<Handler>)
  /** Decorated with `@JobHandler`. */
  | ({ readonly kind: 'class' } & Found<Class>)
  /** A Nest module, or a dynamic one: its decorated providers are handlers. */
  | ({ readonly kind: 'module' } & Found<object>);

const HOW = 'Make it with defineJob, or decorate the class with @JobHandler.';

/**
 * The handlers, decorated classes and Nest modules among the exports of a file. A default export has to be one of them,
 * an array of them, or an object that holds them (what a CommonJS file exports). Named exports that are something else
 * are passed over, unless they look like a handler that went wrong.
 *
 * @throws DeadmanError `handler-invalid`, naming the file and the export.
 */
export function handlerExports(exports: Readonly<Record<string, unknown>>, file: string): readonly HandlerExport[] {
  return Object.entries(exports).flatMap(([name, value]) => {
    const place = `${file}, ${name === 'default' ? 'default export' : `export ${name}`}`;
    if (name !== 'default') return readNamed(value, place);
    return isPlainObject(value) && !('type' in value) && !('module' in value)
      ? Object.entries(value).flatMap(([key, member]) => readNamed(member, `${file}, export ${key}`))
      : readListed(value, place);
  });
}

/** A named export may be anything. An array counts once one of its elements does. */
function readNamed(value: unknown, place: string): readonly HandlerExport[] {
  if (!Array.isArray(value)) return read(value, place) ?? [];
  return value.some((element) => read(element, place) !== null) ? readListed(value, place) : [];
}

/** What must be a handler of some kind. */
function readListed(value: unknown, place: string): readonly HandlerExport[] {
  if (Array.isArray(value)) return value.flatMap((element, index) => readListed(element, `${place}[${index}]`));
  const found = read(value, place);
  if (found === null) throw new DeadmanError('handler-invalid', `${place}: this is not a handler. ${HOW}`);
  return found;
}

function read(value: unknown, place: string): readonly HandlerExport[] | null {
  if (isDecoratedClass(value)) return [{ kind: 'class', value, place }];
  if (isNestModule(value)) return [{ kind: 'module', value, place }];
  if (typeof value !== 'object' || value === null) return null;
  if (jobHandlerTypeOf(value.constructor) !== null) {
    return [{ kind: 'handler', value: handlerOf(value), place }];
  }
  return looksLikeHandler(value) ? [{ kind: 'handler', value: assertHandler(value, place), place }] : null;
}

function assertHandler(value: object, place: string): Handler {
  const { type, parse, run } = value as Partial<Record<keyof Handler, unknown>>;
  if (typeof type === 'string' && typeof parse === 'function' && typeof run === 'function') return value as Handler;
  throw new DeadmanError('handler-invalid', `${place}: a handler has a type and the functions parse and run. ${HOW}`);
}

function looksLikeHandler(value: object): boolean {
  return 'run' in value && 'type' in value;
}

function isDecoratedClass(value: unknown): value is Class {
  return jobHandlerTypeOf(value) !== null;
}

/** By what Nest's own decorator leaves behind, since this library knows no Nest. */
function isNestModule(value: unknown): value is object {
  if (isPlainObject(value)) return typeof value['module'] === 'function';
  if (typeof value !== 'function') return false;
  const hasOwn: unknown = Reflect.get(Reflect, 'hasOwnMetadata');
  if (typeof hasOwn !== 'function') return false;
  return ['imports', 'providers'].some((key) => hasOwn.call(Reflect, key, value) === true);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
