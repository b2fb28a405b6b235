import { pino } from 'pino';
import type { DestinationStream, Logger, LoggerOptions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { ServiceInfo } from '../service-info.js';
import { toErrorFields } from './error-fields.js';

export type { Logger } from 'pino';

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** `auto`: lines for people on a terminal, else JSON. */
  readonly format: 'auto' | 'json' | 'pretty';
}

/**
 * The logger of a process: one JSON object a line on stdout, with `ts level msg event service instance` and whatever else
 * the line is about (`requestId traceId jobId attempt type workerId durationMs err`). Never hand it a payload or a secret.
 *
 * @param destination stdout, unless a test wants the lines.
 */
export function createLogger(
  info: ServiceInfo,
  options: LogOptions,
  destination: DestinationStream = pino.destination(1),
): Logger {
  const isPretty = options.format === 'pretty' || (options.format === 'auto' && process.stdout.isTTY);
  return pino(pinoOptions(info, options), isPretty ? forPeople(destination) : destination);
}

function pinoOptions({ service, instance }: ServiceInfo, { level }: LogOptions): LoggerOptions {
  return {
    level,
    base: { service, instance },
    messageKey: 'msg',
    errorKey: 'err',
    timestamp: () => `,"ts":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: toErrorFields },
  };
}

/** Formats line by line and at once: the stream that pino-pretty offers would lose the last lines of a process that ends. */
function forPeople(destination: DestinationStream): DestinationStream {
  const format = prettyFactory({
    colorize: process.stdout.isTTY,
    timestampKey: 'ts',
    translateTime: 'SYS:HH:MM:ss.l',
    messageKey: 'msg',
    ignore: 'instance',
    singleLine: true,
    errorLikeObjectKeys: ['err'],
  });
  return { write: (line) => destination.write(format(line)) };
}
