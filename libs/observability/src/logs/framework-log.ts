import type { Logger } from './logger.js';

/** What a framework such as Nest wants of a logger; matched by shape, so that nothing here depends on it. */
export interface FrameworkLog {
  log(message: unknown, ...rest: unknown[]): void;
  debug(message: unknown, ...rest: unknown[]): void;
  verbose(message: unknown, ...rest: unknown[]): void;
  warn(message: unknown, ...rest: unknown[]): void;
  error(message: unknown, ...rest: unknown[]): void;
  fatal(message: unknown, ...rest: unknown[]): void;
}

/** Writes a framework's own lines through ours. Its chatter at start (`log`) is debug here; what it warns of keeps its level. */
export function frameworkLog(logger: Logger): FrameworkLog {
  const writer =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void => {
      const context = rest.filter((part): part is string => typeof part === 'string').at(-1);
      const about = message instanceof Error ? { err: message } : {};
      logger[level](
        { event: 'framework.log', context, ...about },
        message instanceof Error ? message.message : String(message),
      );
    };
  const [debug, warn, error] = [writer('debug'), writer('warn'), writer('error')];
  return { log: debug, debug, verbose: debug, warn, error, fatal: error };
}
