import { z } from 'zod';

export interface ConvertedSchema {
  readonly schema: Record<string, unknown>;
  readonly components: Record<string, Record<string, unknown>>;
}

/** A schema as OpenAPI 3.1 has it; those with an id of their own become components. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): ConvertedSchema {
  const { $schema: _version, $defs = {}, ...root } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  return { schema: root, components: $defs as ConvertedSchema['components'] };
}
