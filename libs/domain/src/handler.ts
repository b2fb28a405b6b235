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
