import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import { buildDocument } from './document.js';

/** Serves `/openapi.json` and a page to read and try it, `/docs`. The document is made when somebody first asks. */
export function serveDocs(app: NestFastifyApplication, version: string): void {
  SwaggerModule.setup('docs', app, () => buildDocument(app, version), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Deadman API',
  });
}
