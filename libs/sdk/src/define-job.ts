import { DeadmanError } from '@deadman/domain';
import type { Handler, HandlerContext } from '@deadman/domain';
import { isPayloadSchema, parsePayload } from './payload-schema.js';
import type { PayloadOf, PayloadSchema } from './payload-schema.js';

/** What {@link defineJob} takes. */
export interface JobOptions<Schema extends PayloadSchema | undefined, Result> {
  /** The job type that clients name: lower-case letters, digits and `.`, `_`, `-` between them; at most 128 characters. */
  readonly type: string;
  /**
   * Checks the payload before each run and gives it its type. A payload that does not fit makes the job dead with the
   * code `payload-invalid` and a JSON Pointer for each issue. Without a schema the payload is `unknown`.
   */
  readonly schema?: Schema;
  /**
   * Does the work. What it returns is the job's result, or an outcome: `done`, `snooze`, `cancel`, `dead`. Whatever it
   * throws is a failed attempt, unless its signal was aborted: then the reason decides (see `abortReasonOf`).
   *
   * It may run more than once for one job, since a worker can die at any line. Give `context.idempotencyKey()` to every
   * system that can recognise a repeated request, and `context.signal` to everything slow.
   */
  readonly run: (context: HandlerContext<PayloadOf<Schema>>) => Result;
}

/** A handler with its payload's and its result's type, for tests that call `run` themselves. */
export interface JobDefinition<Payload = unknown, Result = unknown> extends Handler {
  run(context: HandlerContext<Payload>): Result;
}

/**
 * Makes the handler of one job type.
 *
 * ```ts
 * export const sendEmail = defineJob({
 *   type: 'email.send',
 *   schema: z.object({ to: z.email(), subject: z.string() }),
 *   async run(context) {
 *     const { payload, signal } = context;
 *     const { id } = await provider.send(payload, { signal, idempotencyKey: context.idempotencyKey() });
 *     return { messageId: id };
 *   },
 * });
 * ```
 *
 * @throws DeadmanError `handler-invalid` when plain JavaScript hands in something else.
 */
export function defineJob<Result, Schema extends PayloadSchema | undefined = undefined>(
  options: JobOptions<Schema, Result>,
): JobDefinition<PayloadOf<Schema>, Result> {
  const { type, schema, run } = options;
  assertUsable(type, schema, run);
  return { type, parse: (payload) => parsePayload(schema, payload), run: (context) => run.call(options, context) };
}

/** Types cannot help an author who writes plain JavaScript. Whether a type's spelling is allowed is the registry's to say. */
function assertUsable(type: unknown, schema: unknown, run: unknown): void {
  if (typeof type !== 'string' || type === '') {
    throw new DeadmanError('handler-invalid', `defineJob: type must be the job type's name, not ${String(type)}`);
  }
  if (schema !== undefined && !isPayloadSchema(schema)) {
    throw new DeadmanError('handler-invalid', `defineJob("${type}"): schema is not a Standard Schema`);
  }
  if (typeof run !== 'function') {
    throw new DeadmanError('handler-invalid', `defineJob("${type}"): run must be a function`);
  }
}
