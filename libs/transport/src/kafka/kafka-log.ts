import type { Clock } from '@deadman/domain';
import { logLevel } from 'kafkajs';
import type { logCreator, LogEntry } from 'kafkajs';

/** Where lines about the connection to Kafka go. A pino logger fits. */
export interface KafkaLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const SILENT_LOG: KafkaLog = { debug: () => undefined, warn: () => undefined, error: () => undefined };

/** The same line is written once in this time; what came in between is counted in the next. Milliseconds. */
const REPEAT_AFTER_MS = 30_000;

/** Different lines that are remembered; beyond, the oldest are forgotten. */
const MOST_REMEMBERED = 200;

/** kafkajs calls these errors, but they are how a group is told to join again. */
const ROUTINE = /rebalanc|rejoin|not aware of this member|Restarting the consumer/i;

/** What the end of a client says: we cut its connections ourselves, at every stop and every new try. */
export const GIVEN_UP = 'The connection was given up';

interface Repeat {
  readonly writtenAtMs: number;
  count: number;
}

/**
 * Writes what kafkajs logs, which during an outage is ten times a second the same: each line once in a while, with the
 * number of its repeats.
 */
export class KafkaLogFilter {
  readonly #log: KafkaLog;
  readonly #clock: Clock;
  readonly #repeats = new Map<string, Repeat>();

  constructor(log: KafkaLog, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** For the configuration of a kafkajs client. */
  get creator(): logCreator {
    return () => (entry) => this.#write(entry);
  }

  #write({ level, namespace, log }: LogEntry): void {
    const { message, timestamp: _timestamp, logger: _logger, stack: _stack, ...fields } = log;
    const cause = typeof fields['error'] === 'string' ? fields['error'] : '';
    const key = `${namespace}|${message}|${cause}`;
    const repeats = this.#countRepeats(key);
    if (repeats === null) return;
    const line = repeats > 0 ? { ...fields, repeats } : fields;
    this.#log[this.#severity(level, `${message} ${cause}`)](
      { event: 'kafka.client', client: namespace, ...line },
      message,
    );
  }

  /** How often the line came since it was written; null when it is too early to write it again. */
  #countRepeats(key: string): number | null {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#repeats.get(key);
    if (known !== undefined && nowMs - known.writtenAtMs < REPEAT_AFTER_MS) {
      known.count += 1;
      return null;
    }
    this.#remember(key, { writtenAtMs: nowMs, count: 0 });
    return known?.count ?? 0;
  }

  #remember(key: string, repeat: Repeat): void {
    this.#repeats.delete(key);
    this.#repeats.set(key, repeat);
    for (const oldest of this.#repeats.keys()) {
      if (this.#repeats.size <= MOST_REMEMBERED) return;
      this.#repeats.delete(oldest);
    }
  }

  #severity(level: logLevel, text: string): keyof KafkaLog {
    if (ROUTINE.test(text) || text.includes(GIVEN_UP) || level > logLevel.WARN) return 'debug';
    return level === logLevel.ERROR ? 'error' : 'warn';
  }
}
