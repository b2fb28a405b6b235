import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { JsonBody } from '../json/json-body.js';
import { toProblem } from '../problems/to-problem.js';
import { Problem } from '../problems/problem.js';
import { Answer } from './answer.js';
import { BodyBudget } from './body-budget.js';
import { answerClientError, rawResponse } from './client-error.js';
import { requestIdOf } from './request-id.js';

export interface HttpOptions {
  /** Bytes of a request body, unless its route says otherwise. Default 1 MiB. */
  readonly bodyLimitBytes?: number;
  /** Bytes of request bodies under way at once; what exceeds them is `overloaded`. Default 64 MiB, sixteen full batches. */
  readonly bodiesLimitBytes?: number;
  /** Time within which a request has to be received completely; 408 after it. Milliseconds, default 30 000. */
  readonly requestTimeoutMs?: number;
  /** How often the server looks for such requests. Milliseconds, default 5 000. */
  readonly requestTimeoutCheckMs?: number;
}

const DEFAULTS = {
  bodyLimitBytes: 1_048_576,
  bodiesLimitBytes: 64 * 1_048_576,
  requestTimeoutMs: 30_000,
  requestTimeoutCheckMs: 5_000,
};

/** What a route may say to Fastify with `@RouteConfig`. */
export interface RouteSettings {
  readonly bodyLimitBytes?: number;
}

/**
 * Fastify as this api needs it: JSON bodies keep their text, answers are sent as they are, and whatever goes wrong
 * before a route is found is answered with a problem, too.
 */
export class ApiAdapter extends FastifyAdapter {
  constructor(options: HttpOptions = {}) {
    const { bodyLimitBytes, bodiesLimitBytes, requestTimeoutMs, requestTimeoutCheckMs } = { ...DEFAULTS, ...options };
    super({
      bodyLimit: bodyLimitBytes,
      requestTimeout: requestTimeoutMs,
      http: {
        // Node looks at neither limit while that of the headers is the longer one.
        headersTimeout: requestTimeoutMs,
        connectionsCheckingInterval: requestTimeoutCheckMs,
        requireHostHeader: false,
      },
      forceCloseConnections: 'idle',
      // What comes in while the server closes is answered as usual: whoever takes work says itself that it stops.
      return503OnClosing: false,
      genReqId: requestIdOf,
      clientErrorHandler: answerClientError,
      frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
        reply.header('x-request-id', request.id);
        Answer.problem(toProblem(error, request.method), request.id).sendTo(reply);
      },
      // An id may be longer than any that exists: that is a 404 like every other unknown id.
      routerOptions: { maxParamLength: 65_536 },
      // No Nest middleware is used, and without its hook each request is a little cheaper.
      skipMiddie: true,
      multipart: false,
    });
    this.#setUp();
    this.#bound(new BodyBudget(bodiesLimitBytes));
  }

  override reply(
    response: Parameters<FastifyAdapter['reply']>[0],
    body: unknown,
    statusCode?: number,
  ): ReturnType<FastifyAdapter['reply']> {
    return body instanceof Answer ? body.sendTo(response as FastifyReply) : super.reply(response, body, statusCode);
  }

  #setUp(): void {
    const server = this.getInstance();
    server.removeAllContentTypeParsers();
    server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
      refuseEncodings(request.headers);
      done(null, JsonBody.parse(bytes as Buffer));
    });
    server.addHook('onRoute', (route) => {
      const limit = (route.config as RouteSettings | undefined)?.bodyLimitBytes;
      if (limit !== undefined) route.bodyLimit = limit;
    });
    server.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done) => {
      reply.header('x-request-id', request.id);
      if (request.headers.host === undefined && request.raw.httpVersion === '1.1') done(new Problem('malformed-http'));
      else done();
    });
    server.server.on('checkExpectation', refuseExpectation);
    // Node hangs up without a word on whoever asks for a tunnel.
    server.server.on('connect', (_request, socket) => socket.end(rawResponse(new Problem('malformed-http'))));
  }

  #bound(bodies: BodyBudget): void {
    const server = this.getInstance();
    server.addHook('onRequest', ({ raw, routeOptions: { bodyLimit } }, _reply, done) => {
      if (bodyLimit === undefined || bodies.admit(raw, bodyLimit)) done();
      else done(new Problem('overloaded'));
    });
    server.addHook('onSend', ({ raw }, _reply, _payload, done) => {
      bodies.release(raw);
      done();
    });
  }
}

/** A compressed body, or one in another charset than UTF-8, is refused before anybody guesses at its bytes. */
function refuseEncodings(headers: IncomingMessage['headers']): void {
  const encoding = headers['content-encoding'];
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1];
  const isPlain = encoding === undefined || encoding.toLowerCase() === 'identity';
  if (!isPlain || (charset !== undefined && charset.toLowerCase() !== 'utf-8'))
    throw new Problem('unsupported-media-type');
}

/** Node answers an `Expect` it does not know with an empty 417. */
function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  const problem = new Problem('expectation-failed');
  const requestId = requestIdOf(request);
  response.writeHead(problem.status, { 'content-type': 'application/problem+json', 'x-request-id': requestId });
  response.end(problem.body(requestId));
}
