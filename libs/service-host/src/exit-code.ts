/** How the process ends, for whoever starts it. The names are those of `sysexits.h`. */
export const EXIT = {
  /** A signal asked for the end, and everything was finished or handed back. Not 143: nothing was cut off. */
  clean: 0,
  /** An error that nobody expected, or a shutdown that could not finish in time. Jobs are safe, and may run again. */
  bug: 70,
  /** Something needed cannot be had: a port is taken, PostgreSQL does not answer. Trying again may help. */
  unavailable: 69,
  /** The configuration or a handler is wrong. Trying again does not help. */
  config: 78,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A reason not to start that is no bug: the message is for the person who reads it, and needs no stack. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
