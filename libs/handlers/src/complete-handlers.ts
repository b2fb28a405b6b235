import { DeadmanError } from '@deadman/domain';
import type { Handler } from '@deadman/domain';
import { handlerOf, jobHandlerTypeOf } from '@deadman/sdk';
import { DEMO_HANDLERS } from './demo-handlers.js';
import type { Class, Found, HandlerExport } from './handler-exports.js';

/**
 * All handlers of a worker: the built-in ones, those that were loaded, and the decorated classes among `provided`, the
 * instances that the app's container made. A loaded class that no module provides is constructed here, without arguments.
 *
 * @throws DeadmanError `handler-invalid` for a type that is defined twice, naming both places, and for a class that
 * cannot be constructed without arguments.
 */
export function completeHandlers(
  loaded: readonly HandlerExport[],
  provided: readonly object[],
): readonly Found<Handler>[] {
  const builtIn = DEMO_HANDLERS.map((value) => ({ value, place: 'built into Deadman' }));
  const injected = onePerClass(provided);
  const own = loaded.flatMap((item): Found<Handler>[] => {
    if (item.kind === 'handler') return [item];
    const isInjected = item.kind === 'module' || injected.has(item.value);
    return isInjected ? [] : [{ value: handlerOf(construct(item)), place: item.place }];
  });
  const injectedHandlers = [...injected].map(([{ name }, instance]) => ({
    value: handlerOf(instance),
    place: `provider ${name}`,
  }));
  return assertDistinct([...builtIn, ...own, ...injectedHandlers]);
}

/** The types that are certain before the modules' providers exist. */
export function knownTypes(loaded: readonly HandlerExport[]): readonly string[] {
  const found = loaded.map((item) => {
    if (item.kind === 'module') return null;
    return item.kind === 'class' ? jobHandlerTypeOf(item.value) : item.value.type;
  });
  return [...DEMO_HANDLERS.map(({ type }) => type), ...found.filter((type) => type !== null)];
}

/** Nest makes an instance per module that lists a class; the first one handles the type. */
function onePerClass(provided: readonly object[]): ReadonlyMap<Class, object> {
  const found = new Map<Class, object>();
  for (const instance of provided) {
    const itsClass = instance.constructor as Class;
    if (jobHandlerTypeOf(itsClass) !== null && !found.has(itsClass)) found.set(itsClass, instance);
  }
  return found;
}

function construct({ value: itsClass, place }: Found<Class>): object {
  if (itsClass.length > 0) {
    throw new DeadmanError(
      'handler-invalid',
      `${place}: ${itsClass.name} takes constructor arguments. Export an instance of it, or a Nest module that provides it`,
    );
  }
  try {
    return new itsClass();
  } catch (cause) {
    throw new DeadmanError('handler-invalid', `${place}: ${itsClass.name} cannot be constructed`, { cause });
  }
}

function assertDistinct(all: readonly Found<Handler>[]): readonly Found<Handler>[] {
  const places = new Map<string, string>();
  for (const { value, place } of all) {
    const first = places.get(value.type);
    if (first !== undefined) {
      throw new DeadmanError('handler-invalid', `The type '${value.type}' is defined twice: ${first}; ${place}`);
    }
    places.set(value.type, place);
  }
  return all;
}
