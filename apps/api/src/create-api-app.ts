import { NestFactory } from '@nestjs/core';
import type { DynamicModule, LoggerService, LogLevel, Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiAdapter } from './http/api-adapter.js';
import type { HttpOptions } from './http/api-adapter.js';
import { watchMethods } from './http/method-not-allowed.js';
import { serveDocs } from './openapi/serve-docs.js';

export interface ApiAppOptions extends HttpOptions {
  /** Of the deployment, for the OpenAPI document. */
  readonly version?: string;
  readonly logger?: LoggerService | LogLevel[] | false;
}

/**
 * A Nest application that serves `ApiModule`, alone or imported by `module`, and is ready to listen. Every answer it
 * gives to a fault, of a controller, of Fastify or of the HTTP parser, is an RFC 9457 problem.
 */
export async function createApiApp(
  module: Type | DynamicModule,
  options: ApiAppOptions = {},
): Promise<NestFastifyApplication> {
  const adapter = new ApiAdapter(options);
  const refuseOtherMethods = watchMethods(adapter.getInstance());
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    abortOnError: false,
    ...(options.logger !== undefined && { logger: options.logger }),
  });
  serveDocs(app, options.version ?? '0.0.0');
  await app.init();
  refuseOtherMethods();
  return app;
}
