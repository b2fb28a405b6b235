import type { FastifyReply } from 'fastify';
import type { Problem } from '../problems/problem.js';

export type Headers = Readonly<Record<string, string>>;

/**
 * A response that is ready to be sent. Controllers return it instead of an object, because a job's payload has to be
 * spliced into the body as text: nothing between the controller and the socket parses or prints it again.
 */
export class Answer {
  private constructor(
    readonly status: number,
    readonly type: string | null,
    readonly body: string,
    readonly headers: Headers,
  ) {}

  /** `body` is JSON text. */
  static json(status: number, body: string, headers: Headers = {}): Answer {
    return new Answer(status, 'application/json; charset=utf-8', body, headers);
  }

  static html(status: number, body: string, headers: Headers = {}): Answer {
    return new Answer(status, 'text/html; charset=utf-8', body, headers);
  }

  static notModified(headers: Headers): Answer {
    return new Answer(304, null, '', headers);
  }

  static problem(problem: Problem, requestId: string): Answer {
    return new Answer(problem.status, 'application/problem+json', problem.body(requestId), {
      'cache-control': 'no-store',
      ...problem.headers,
    });
  }

  sendTo(reply: FastifyReply): FastifyReply {
    reply.code(this.status);
    for (const name in this.headers) reply.header(name, this.headers[name]);
    return this.type === null ? reply.send() : reply.header('content-type', this.type).send(this.body);
  }
}
