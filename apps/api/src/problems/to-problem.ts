import { HttpException } from '@nestjs/common';
import { isDeadmanError } from '@deadman/domain';
import type { ErrorCode } from '@deadman/domain';
import { Problem } from './problem.js';
import type { ProblemCode } from './problem-table.js';

/** What a client is told of an operational error of the system. */
const OPERATIONAL: Record<ErrorCode, ProblemCode> = {
  'store-unavailable': 'store-unavailable',
  'unknown-outcome': 'unknown-outcome',
  'transaction-conflict': 'store-unavailable',
  'statement-timeout': 'store-unavailable',
  'data-rejected': 'data-rejected',
  'schema-incompatible': 'store-unavailable',
  'lease-store-unavailable': 'store-unavailable',
  'transport-unavailable': 'store-unavailable',
  overloaded: 'overloaded',
  'shutting-down': 'shutting-down',
  'handler-invalid': 'internal-error',
  'configuration-invalid': 'internal-error',
};

/** What a client is told of a request that Fastify, or the plugin that serves `/docs`, refuses. */
const FRAMEWORK: Partial<Record<number, ProblemCode>> = {
  // A path that leads out of the folder of `/docs`.
  403: 'resource-not-found',
  404: 'resource-not-found',
  408: 'request-timeout',
  413: 'body-too-large',
  415: 'unsupported-media-type',
};

/** The problem that stands for whatever was thrown. Nothing of an unknown error is told but that there was one. */
export function toProblem(error: unknown, method: string, bodyLimitBytes?: number): Problem {
  if (error instanceof Problem) return error;
  if (isDeadmanError(error)) return new Problem(operational(error.code, method), {}, { cause: error });
  const status = frameworkStatus(error) ?? 500;
  const code = FRAMEWORK[status] ?? (status < 500 ? 'malformed-http' : 'internal-error');
  const limit = code === 'body-too-large' ? bodyLimitBytes : undefined;
  return new Problem(code, limit === undefined ? {} : { members: { limitBytes: limit } }, { cause: error });
}

/** A slow read can be asked for less; a slow write is the database's trouble. */
function operational(code: ErrorCode, method: string): ProblemCode {
  const isRead = method === 'GET' || method === 'HEAD';
  return code === 'statement-timeout' && isRead ? 'query-too-slow' : OPERATIONAL[code];
}

/** Nest wraps Fastify's own refusals, and throws a 404 for a path that no route has. */
function frameworkStatus(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof Error && error.name === 'FastifyError') return (error as { statusCode?: number }).statusCode;
  return undefined;
}
