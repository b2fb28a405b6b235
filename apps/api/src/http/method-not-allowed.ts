import { METHODS } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../problems/problem.js';
import { Answer } from './answer.js';

/** `CONNECT` never reaches a route: Node hands it to an event of its own and closes the connection. */
const ANSWERABLE = METHODS.filter((method) => method !== 'CONNECT');

/**
 * Makes every path answer the methods it does not have with 405 and `Allow`, instead of the router's 404. Call it before
 * the first route; the function it returns, after the last one, adds the answers.
 */
export function watchMethods(server: FastifyInstance): () => void {
  const methodsByPath = new Map<string, Set<string>>();
  let isComplete = false;
  server.addHook('onRoute', ({ url, method }) => {
    if (isComplete) return;
    const methods = methodsByPath.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    methodsByPath.set(url, methods);
  });
  return () => {
    isComplete = true;
    const supported = new Set(server.supportedMethods);
    for (const method of ANSWERABLE) if (!supported.has(method)) server.addHttpMethod(method);
    for (const [url, methods] of methodsByPath) refuseOthers(server, url, methods);
  };
}

/** Answers before the body is read, so that a wrong method outweighs a wrong media type. */
function refuseOthers(server: FastifyInstance, url: string, methods: ReadonlySet<string>): void {
  const others = ANSWERABLE.filter((method) => !methods.has(method));
  if (others.length === 0) return;
  const problem = new Problem('method-not-allowed', { headers: { allow: [...methods].toSorted().join(', ') } });
  server.route({
    method: others,
    url,
    onRequest: (request, reply) => void Answer.problem(problem, request.id).sendTo(reply),
    handler: () => undefined,
  });
}
