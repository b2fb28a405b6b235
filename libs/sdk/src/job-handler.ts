import { DeadmanError } from '@deadman/domain';
import type { Handler, HandlerContext } from '@deadman/domain';
import { isPayloadSchema, parsePayload } from './payload-schema.js';
import type { PayloadOf, PayloadSchema } from './payload-schema.js';

/** A registered symbol, so that a worker finds the mark even when the class was decorated by another copy of this package. */
const JOB_HANDLER = Symbol.for('deadman.job-handler');

/** What the decorator leaves on a class. */
interface JobHandlerMark {
  readonly type: string;
  readonly schema: PayloadSchema | undefined;
}

/** What an instance of a class decorated with {@link JobHandler} has: the same `run` that `defineJob` takes. */
export interface JobRunner<Payload = unknown> {
  // A property instead of a method: a `run` that asks for a narrower payload than the schema gives must not compile.
  readonly run: (context: HandlerContext<Payload>) => unknown;
}

/** A class whose instances can run jobs with this payload. */
// oxlint-disable-next-line typescript/no-explicit-any -- Only `any[]` accepts every constructor, whatever it is injected with.
type JobRunnerClass<Payload> = abstract new (...args: any[]) => JobRunner<Payload>;

/** The decorator that {@link JobHandler} returns, for legacy (`experimentalDecorators`) and for standard decorators. */
export type JobHandlerDecorator<Payload> = <Class extends JobRunnerClass<Payload>>(
  target: Class,
  context?: ClassDecoratorContext<Class>,
) => void;

/**
 * Makes a class the handler of one job type: a Nest provider, injected like any other, or any class with a `run`.
 * The same engine runs it as what `defineJob` makes, and everything said there of `run` and `schema` holds here.
 *
 * ```ts
 * const payload = z.object({ reportId: z.uuid() });
 *
 * @JobHandler('report.build', { schema: payload })
 * export class BuildReport {
 *   async run({ payload, signal }: HandlerContext<z.output<typeof payload>>) { … }
 * }
 * ```
 *
 * @throws DeadmanError `handler-invalid` when it stands on anything but a class, twice on one, or without a type.
 */
export function JobHandler<Schema extends PayloadSchema | undefined = undefined>(
  type: string,
  options: { readonly schema?: Schema } = {},
): JobHandlerDecorator<PayloadOf<Schema>> {
  assertWellUsed(type, options.schema);
  return (target: unknown, context?: unknown): void => mark(type, options.schema, target, context);
}

/** The job type that a class is decorated with, or null. A subclass does not inherit it. */
export function jobHandlerTypeOf(value: unknown): string | null {
  return typeof value === 'function' ? (markOf(value)?.type ?? null) : null;
}

/**
 * The handler behind an instance of a decorated class.
 *
 * @throws DeadmanError `handler-invalid` when its class is not decorated, or when it has no `run`.
 */
export function handlerOf(instance: object): Handler {
  const name = instance.constructor.name;
  const found = markOf(instance.constructor);
  if (found === null) throw new DeadmanError('handler-invalid', `The class ${name} is not decorated with @JobHandler`);
  if (!isRunner(instance)) {
    throw new DeadmanError('handler-invalid', `@JobHandler("${found.type}"): the class ${name} has no method run`);
  }
  return {
    type: found.type,
    parse: (payload) => parsePayload(found.schema, payload),
    run: (context) => instance.run(context),
  };
}

function mark(type: string, schema: PayloadSchema | undefined, target: unknown, context: unknown): void {
  const kind = isStandardContext(context) ? context.kind : typeof target === 'function' ? 'class' : 'member';
  // A legacy decorator on a static member gets the class too, but then its name comes along as a string.
  if (kind !== 'class' || typeof target !== 'function' || typeof context === 'string' || typeof context === 'symbol') {
    throw new DeadmanError(
      'handler-invalid',
      `@JobHandler("${type}") belongs on a class, whose method run does the work`,
    );
  }
  if (markOf(target) !== null) {
    throw new DeadmanError(
      'handler-invalid',
      `@JobHandler("${type}"): the class ${target.name} already handles a type`,
    );
  }
  const value: JobHandlerMark = { type, schema };
  Object.defineProperty(target, JOB_HANDLER, { value });
}

function assertWellUsed(type: unknown, schema: unknown): void {
  if (typeof type !== 'string' || type === '') {
    throw new DeadmanError('handler-invalid', "@JobHandler needs the job type it handles: @JobHandler('email.send')");
  }
  if (schema !== undefined && !isPayloadSchema(schema)) {
    throw new DeadmanError('handler-invalid', `@JobHandler("${type}"): schema is not a Standard Schema`);
  }
}

// oxlint-disable-next-line typescript/no-unsafe-function-type -- A constructor of any kind.
function markOf(target: Function): JobHandlerMark | null {
  const found = Object.getOwnPropertyDescriptor(target, JOB_HANDLER)?.value as JobHandlerMark | undefined;
  return found ?? null;
}

function isRunner(instance: object): instance is JobRunner {
  return 'run' in instance && typeof instance.run === 'function';
}

function isStandardContext(context: unknown): context is { readonly kind: string } {
  return typeof context === 'object' && context !== null && 'kind' in context;
}
