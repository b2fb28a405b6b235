/** The servers of the stack, in the order people read them. */
export const SERVICES = ['postgres', 'redis', 'kafka'] as const;

export type ServiceName = (typeof SERVICES)[number];

/** The variable by which the four services, and our scripts, learn where each server is. */
export const URL_VARIABLE: Readonly<Record<ServiceName, string>> = {
  postgres: 'DATABASE_URL',
  redis: 'REDIS_URL',
  kafka: 'KAFKA_BROKERS',
};

/** A process that was found in the system's process table. */
export interface ServerProcess {
  pid: number;
  /** Tells it from a later process of the same number. */
  startedAt: string;
}

/** What is known of a server, whether or not it runs. */
export interface ServerFacts {
  /** Null before the first start. May carry a password: hand it to a driver, and keep it out of logs. */
  url: string | null;
  /** Null before the first start. Kept afterwards, also by a wipe, so that clients find the server again. */
  port: number | null;
  dataDir: string;
  log: string;
}

/**
 * A server that the stack starts itself. The process table is the truth about it: no file has to be written for it to
 * be found again, so a tool killed half-way loses nothing.
 */
export interface OwnServer {
  readonly name: ServiceName;
  /** Debian packages that have to be installed before it can start. */
  missingPackages(): string[];
  /** The server's first process, or null when it does not run. */
  find(): ServerProcess | null;
  /** Null when it answers as a client needs it, and otherwise why not. Asks once, with a time limit. */
  whyNotReady(): Promise<string | null>;
  /** Starts it, or joins it when it runs, and resolves once it answers. Throws `StackError` with the end of its log. */
  start(): Promise<void>;
  /**
   * Sends the signal, by default the server's own for a clean end, and resolves once the process is gone. A server
   * that does not heed a milder signal in time is killed.
   */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Removes its data. It must not run. */
  wipe(): Promise<void>;
  facts(): ServerFacts;
}

/** Hears what a person at the terminal wants to know, a sentence at a time. */
export type Log = (line: string) => void;
