import { DeadmanError, isDeadmanError } from '@deadman/domain';
import type { Handler } from '@deadman/domain';
import { HandlerRegistry } from '@deadman/engine';
import { completeHandlers, loadHandlers } from '@deadman/handlers';
import type { HandlerExport } from '@deadman/handlers';
import { CannotStart, EXIT } from './exit-code.js';

/** What `DEADMAN_HANDLERS` names, as it was found; nothing when it names nothing. Throws CannotStart. */
export function loadTeamHandlers(named: string | null, cwd: string): Promise<readonly HandlerExport[]> {
  return named === null ? Promise.resolve([]) : refusing(() => loadHandlers(named, cwd));
}

/** Registers everything the worker can run. `provided` are the instances that Nest made. Throws CannotStart. */
export function registerHandlers(
  loaded: readonly HandlerExport[],
  provided: () => readonly object[],
): Promise<HandlerRegistry> {
  return refusing(async () => {
    const registry = new HandlerRegistry();
    for (const { value, place } of completeHandlers(loaded, provided())) register(registry, value, place);
    return registry;
  });
}

function register(registry: HandlerRegistry, handler: Handler, place: string): void {
  try {
    registry.register(handler);
  } catch (cause) {
    if (!isDeadmanError(cause, 'handler-invalid')) throw cause;
    throw new DeadmanError('handler-invalid', `${place}: ${cause.message}`, { cause });
  }
}

/** A handler that cannot be used is a fault of the configuration: no restart mends it. */
async function refusing<Value>(act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (cause) {
    if (!isDeadmanError(cause, 'handler-invalid')) throw cause;
    throw new CannotStart(EXIT.config, cause.message, { cause });
  }
}
