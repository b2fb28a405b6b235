import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { z } from 'zod';
import { ApiModule } from '../api.module.js';
import { toJsonSchema } from './json-schema.js';

const TEXT = `Hands in jobs, and says what became of them.

Times are RFC 3339 in UTC; durations carry their unit in their name. A list is \`{"items", "nextCursor", "limit"}\`. A
request with a member or parameter that the api does not know is refused. Everything that goes wrong is told as an
RFC 9457 problem, with all faults at once. A path answers methods that it does not know with 405 and \`Allow\`, and
\`HEAD\` wherever \`GET\` works.`;

/** The OpenAPI 3.1 document of the api, made from the controllers and their schemas. */
export function buildDocument(app: NestFastifyApplication, version: string): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Deadman')
    .setDescription(TEXT)
    .setVersion(version)
    .setLicense('MIT', 'https://spdx.org/licenses/MIT.html')
    .addServer('/', 'Where this document came from.')
    .build();
  return SwaggerModule.createDocument(app, config, {
    include: [ApiModule],
    standardSchemaConverter: (schema, { schemaType }) => toJsonSchema(schema as unknown as z.ZodType, schemaType),
  });
}
