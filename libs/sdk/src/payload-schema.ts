import type { ParsedPayload } from '@deadman/domain';
import type { StandardSchemaV1 } from '@standard-schema/spec';

/** Any schema that follows Standard Schema: zod, valibot, arktype and others. */
export type PayloadSchema = StandardSchemaV1;

/** What a handler with this schema is given: the schema's output, or `unknown` without a schema. */
export type PayloadOf<Schema extends PayloadSchema | undefined> = Schema extends PayloadSchema
  ? StandardSchemaV1.InferOutput<Schema>
  : unknown;

/** What a client may send to a handler with this schema: the schema's input, or `unknown` without a schema. */
export type PayloadInputOf<Schema extends PayloadSchema | undefined> = Schema extends PayloadSchema
  ? StandardSchemaV1.InferInput<Schema>
  : unknown;

export function isPayloadSchema(value: unknown): value is PayloadSchema {
  // arktype's schemas are functions.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return typeof standard === 'object' && standard !== null && typeof Reflect.get(standard, 'validate') === 'function';
}

/** Passes the payload through the schema, or as it is when there is none. A schema that throws is a failed attempt. */
export function parsePayload(
  schema: PayloadSchema | undefined,
  payload: unknown,
): ParsedPayload | Promise<ParsedPayload> {
  if (schema === undefined) return { value: payload };
  const result = schema['~standard'].validate(payload);
  return result instanceof Promise ? result.then(toParsedPayload) : toParsedPayload(result);
}

function toParsedPayload(result: StandardSchemaV1.Result<unknown>): ParsedPayload {
  if (result.issues === undefined) return { value: result.value };
  return { issues: result.issues.map(({ message, path }) => ({ pointer: toJsonPointer(path ?? []), message })) };
}

/** RFC 6901. The empty pointer is the whole payload. */
function toJsonPointer(path: NonNullable<StandardSchemaV1.Issue['path']>): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
