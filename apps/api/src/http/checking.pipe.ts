import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import type { z } from 'zod';
import { JsonBody } from '../json/json-body.js';
import { bad } from './checked.js';
import type { Checked } from './checked.js';
import { checkSchema } from './check-schema.js';

/**
 * Reads `@Body({ schema })` and `@Query({ schema })` by their schemas, as Nest's own pipe does, but hands over what is
 * wrong instead of throwing it: Nest runs the pipes of a route side by side and answers with the first that throws,
 * while a client is to be told all faults at once. The parameter's type is `Checked<…>`.
 */
export class CheckingPipe implements PipeTransform<unknown, unknown> {
  transform(value: unknown, { schema, type }: ArgumentMetadata): unknown {
    if (schema === undefined) return value;
    return type === 'query'
      ? checkSchema(schema as z.ZodType, value, { in: 'query' })
      : checkBody(schema as z.ZodType, value);
  }
}

/** A request without a body and without a content type never reaches the parser. */
function checkBody(schema: z.ZodType, value: unknown): Checked<unknown> {
  const body = value instanceof JsonBody ? value : JsonBody.parse(Buffer.alloc(0));
  return body.fault === null ? checkSchema(schema, body.value, { in: 'body', pointer: '' }) : bad([body.fault]);
}
