import type { RetryRequest } from './retry-request.js';

/** What a handler is told about its job. */
export interface HandlerJob {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly failures: number;
  readonly lapses: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  readonly tags: readonly string[];
}

/** Lines that appear in the worker's log with the job's id, type and attempt beside them. */
export interface HandlerLog {
  readonly debug: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  readonly info: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  readonly warn: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
  readonly error: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
}

/** Why a handler's signal was aborted; the value of `signal.reason`. */
export const ABORT_REASONS = ['shutdown', 'cancelled', 'timeout', 'lease-lost'] as const;
export type AbortReasonCode = (typeof ABORT_REASONS)[number];

/** `signal.reason` of an aborted run. After `lease-lost` another worker may already run the job: fire no effect. */
export class AbortReason extends Error {
  override readonly name = 'AbortError';
  readonly code: AbortReasonCode;

  constructor(code: AbortReasonCode) {
    super(`The run was aborted: ${code}`);
    this.code = code;
  }
}

/** A statement as the `pg` package takes it. What else it has, such as `name` or `rowMode`, is passed on. */
export interface SqlStatement {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** What a statement gave, as the `pg` package returns it. */
export interface SqlResult<Row> {
  readonly rows: Row[];
  readonly rowCount: number | null;
}

/** A job that a handler hands in: what `POST /jobs` takes, under the same rules. */
export interface NewJob {
  readonly type: string;
  /** Any JSON; `{}` when absent. */
  readonly payload?: unknown;
  /** Default: the queue of the job that hands it in. */
  readonly queue?: string;
  /** When it is due. Excludes `delaySeconds`; neither means now. */
  readonly runAt?: Date;
  readonly delaySeconds?: number;
  /** Default 5. */
  readonly maxAttempts?: number;
  readonly retry?: RetryRequest;
  /** Default 900. */
  readonly timeoutSeconds?: number;
  readonly tags?: readonly string[];
}

/** What a handler has of the transaction of an effect. Nothing of it can be used once the transaction is over. */
export interface EffectTransaction {
  /**
   * Runs a statement on the jobs' database, as a client of the `pg` package does, and throws what that throws. The
   * transaction is begun and ended around the handler's function: no statement of its own may do that.
   */
  readonly query: <Row = Record<string, unknown>>(
    statement: string | SqlStatement,
    values?: readonly unknown[],
  ) => Promise<SqlResult<Row>>;

  /**
   * Hands in a job, which exists exactly when the transaction commits.
   *
   * @throws TypeError for a job that the api would refuse.
   */
  readonly submit: (job: NewJob) => Promise<{ readonly id: string }>;
}

/** Makes a change of the jobs' database effectively once; see {@link HandlerContext.transaction}. */
export interface RunTransaction {
  <Value>(key: string, change: (transaction: EffectTransaction) => Value | Promise<Value>): Promise<Value>;
  /** The same under the key `default`, for a handler that has only one. */
  <Value>(change: (transaction: EffectTransaction) => Value | Promise<Value>): Promise<Value>;
}

/** What the function of a step is told. */
export interface StepContext {
  /** The same for every try of this step, whatever the attempt: `idempotencyKey(name)` of the handler's context. */
  readonly idempotencyKey: string;
  /**
   * An earlier try of this step began and left no memo: what it does outside may have happened. Ask the other system
   * before it is done again, or rely on its knowing the idempotency key.
   */
  readonly isInDoubt: boolean;
  /** The signal of the handler's context. */
  readonly signal: AbortSignal;
}

/** Remembers what a piece of work came to; see {@link HandlerContext.step}. */
export type RunStep = <Value>(name: string, work: (step: StepContext) => Value | Promise<Value>) => Promise<Value>;

/** What a running handler can use. */
export interface HandlerContext<Payload = unknown> {
  readonly payload: Payload;
  /** The payload's JSON text as the client sent it: exact for numbers that JavaScript cannot hold. */
  readonly payloadText: string;
  readonly job: HandlerJob;
  /** Aborted on shutdown, cancel, timeout and a lost lease. Pass it on to everything slow. */
  readonly signal: AbortSignal;
  readonly log: HandlerLog;
  /** Shows `value` (any JSON, at most 16 KiB) as the job's progress. Coalesced, at most about one write a second; never throws for a slow database. */
  readonly progress: (value: unknown) => void;
  /** The same key for every attempt of this job and scope. For calls to systems that can recognise a repeated request. */
  readonly idempotencyKey: (scope?: string) => string;
  /**
   * Changes the jobs' database once for this job and key, however often the job is run: the change and the note that it
   * was made commit together, if the job is still this run's. Where the note is there already, `change` is not called.
   * Trouble with the database is met by trying again, so `change` may be called several times; what it did before was
   * rolled back, and what it does outside the transaction is its own affair.
   *
   * @param key names the change within the job: 1 to 128 characters. Each key is used once in a run.
   * @returns what `change` returned when it was made, as JSON gives it back: at most 64 KiB.
   * @throws what `change` throws, with nothing changed; the reason of the signal once the run was aborted.
   */
  readonly transaction: RunTransaction;
  /**
   * Does a piece of work and remembers what it came to: a later attempt is given that instead of doing it again. Work
   * whose attempt ended between its doing and its remembering is done again, in doubt and under the same idempotency key.
   *
   * @param name names the work within the job: 1 to 128 characters. Each name is used once in a run.
   * @returns what `work` returned, as JSON gives it back: at most 64 KiB.
   * @throws what `work` throws, which leaves the step in doubt; the reason of the signal once the run was aborted.
   */
  readonly step: RunStep;
}

/** Marks a handler's returned outcome. A registered symbol, so that two copies of the SDK understand each other. */
export const OUTCOME = Symbol.for('deadman.handler-outcome');

/** What a handler wants to become of its job. Any other returned value is the result of a success. */
export type HandlerOutcome =
  | { readonly [OUTCOME]: 'done'; readonly result: unknown }
  | { readonly [OUTCOME]: 'snooze'; readonly delayMs: number }
  | { readonly [OUTCOME]: 'cancel' }
  | { readonly [OUTCOME]: 'dead'; readonly error: unknown };

export type ParsedPayload =
  { readonly value: unknown } | { readonly issues: readonly { readonly pointer: string; readonly message: string }[] };

/** Runs the jobs of one type. What the SDK's `defineJob` makes, and all that the engine knows of it. */
export interface Handler {
  readonly type: string;
  /** Checks the payload before each run. Issues make the attempt fail for good, with the code `payload-invalid`. */
  parse(payload: unknown): ParsedPayload | Promise<ParsedPayload>;
  run(context: HandlerContext): unknown;
}
