import { Catch, Logger } from '@nestjs/common';
import type { ArgumentsHost, ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Answer } from '../http/answer.js';
import type { Problem } from './problem.js';
import { toProblem } from './to-problem.js';

/** Answers everything that is thrown, by a controller or by Fastify, with a problem. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #logger = new Logger('Api');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    if (hasHungUp(request)) return;
    const problem = toProblem(error, request.method, request.routeOptions.bodyLimit);
    this.#log(problem, request.id);
    // Fastify hangs up on a body that is too large. Whoever still sends it then reads of a broken pipe, and not of this.
    if (problem.code === 'body-too-large') reply.removeHeader('connection');
    if (!reply.sent) Answer.problem(problem, request.id).sendTo(reply);
  }

  /**
   * What is the client's to mend is no matter for the log; what is ours is, with the id that the client was told. An
   * outage is told by health and counted by metrics, and a line for every request of it would help nobody.
   */
  #log(problem: Problem, requestId: string): void {
    if (problem.status < 500) return;
    const { cause } = problem;
    const text = `${problem.code} (request ${requestId}): ${cause instanceof Error ? cause.message : 'no error given'}`;
    if (problem.status === 500) this.#logger.error(text, cause instanceof Error ? cause.stack : undefined);
    else this.#logger.debug(text);
  }
}

/** In the middle of its request: nobody is left to be told, and nothing of ours has failed. */
function hasHungUp({ raw }: FastifyRequest): boolean {
  return raw.destroyed && !raw.complete;
}
