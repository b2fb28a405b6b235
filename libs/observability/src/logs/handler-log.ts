import type { HandlerJob, HandlerLog } from '@deadman/domain';
import type { Logger } from './logger.js';

/** The log that a handler is given: its lines carry the job, and what it adds lies under `fields`, where it can hide nothing of ours. */
export function handlerLog(logger: Logger, { id, type, queue, attempt }: HandlerJob): HandlerLog {
  const own = logger.child({ event: 'handler.log', jobId: id, type, queue, attempt });
  const writer =
    (level: keyof HandlerLog) =>
    (message: string, fields?: Readonly<Record<string, unknown>>): void =>
      own[level](fields === undefined ? {} : { fields }, message);
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') };
}
