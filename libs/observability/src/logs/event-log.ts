import { EngineEvents } from '@deadman/domain';
import type { EngineEvent } from '@deadman/domain';
import { eventLine } from './event-lines.js';
import type { Logger } from './logger.js';

/** Writes what happens in the engine to the log. */
export class EventLog extends EngineEvents {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    super();
    this.#logger = logger;
  }

  override emit(event: EngineEvent): void {
    const line = eventLine(event);
    if (line === null || !this.#logger.isLevelEnabled(line.level)) return;
    this.#logger[line.level]({ event: line.event, ...line.fields }, line.msg);
  }
}
