import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { ApiBodyOptions, ApiResponseOptions } from '@nestjs/swagger';
import type { z } from 'zod';
import { problemKind } from '../problems/problem-table.js';
import type { ProblemCode } from '../problems/problem-table.js';
import { Problem } from '../problems/problem.js';
import { answerHeaders, REQUEST_HEADERS } from './headers.js';
import type { AnswerHeader, RequestHeader } from './headers.js';

export interface AnswerDescription {
  readonly description: string;
  readonly schema?: z.ZodType;
  readonly headers?: readonly AnswerHeader[];
}

export interface OperationDescription {
  readonly id: string;
  readonly tag: 'Jobs' | 'Queues' | 'Dead letters' | 'Problems';
  readonly summary: string;
  readonly description?: string;
  /** Path parameters and what they are. */
  readonly params?: Readonly<Record<string, string>>;
  readonly headers?: readonly RequestHeader[];
  /** The body, where what is documented says more than what is parsed at once, and examples of it by name. */
  readonly body?: { readonly schema: z.ZodType; readonly examples: Readonly<Record<string, object>> };
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Besides those that every operation may answer with. */
  readonly problems: readonly ProblemCode[];
}

/** What can happen to any request: a parameter it does not know, a fault of ours, a database that is away. */
const ALWAYS: readonly ProblemCode[] = ['invalid-request', 'internal-error', 'store-unavailable'];

/** Documents an operation completely: its answers, its problems and the headers of both. */
export function Describe(operation: OperationDescription): MethodDecorator {
  const { id, tag, summary, description, params = {}, headers = [], body, answers } = operation;
  return applyDecorators(
    ApiTags(tag),
    ApiOperation({ operationId: id, summary, ...(description !== undefined && { description }) }),
    ...Object.entries(params).map(([name, text]) => ApiParam({ name, description: text, schema: { type: 'string' } })),
    ...[...headers, 'X-Request-Id' as const].map((name) =>
      ApiHeader({ name, description: REQUEST_HEADERS[name], required: false, schema: { type: 'string' } }),
    ),
    ...(body === undefined ? [] : [bodyOf(body)]),
    ...Object.entries(answers).map(([status, answer]) => answerResponse(Number(status), answer)),
    ...byStatus([...ALWAYS, ...operation.problems]).map(([status, codes]) => problemResponse(status, codes)),
  );
}

function bodyOf({ schema, examples }: NonNullable<OperationDescription['body']>): MethodDecorator {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return ApiBody({ standardSchema: schema, examples: Object.fromEntries(named) } as unknown as ApiBodyOptions);
}

function answerResponse(status: number, { description, schema, headers = [] }: AnswerDescription): MethodDecorator {
  return ApiResponse({
    status,
    description,
    headers: answerHeaders(['X-Request-Id', ...headers]),
    ...(schema && { standardSchema: schema }),
  } as ApiResponseOptions);
}

function problemResponse(status: number, codes: readonly ProblemCode[]): MethodDecorator {
  const examples = codes.map((code) => [code, { summary: problemKind(code).title, value: exampleOf(code) }]);
  return ApiResponse({
    status,
    description: codes.map((code) => `\`${code}\`: ${problemKind(code).title}.`).join(' '),
    headers: answerHeaders([
      'X-Request-Id',
      'Cache-Control',
      ...(status === 503 ? (['Retry-After'] as const) : []),
      ...(codes.includes('idempotency-key-reused') ? (['Preference-Applied'] as const) : []),
    ]),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(examples) as Record<string, { summary: string; value: unknown }>,
      },
    },
  } as ApiResponseOptions);
}

function exampleOf(code: ProblemCode): unknown {
  return JSON.parse(new Problem(code).body('5f0c9b1e-4a35-4f55-9be5-7a1f0f2f7c11'));
}

function byStatus(codes: readonly ProblemCode[]): readonly (readonly [number, readonly ProblemCode[]])[] {
  const statuses = [...new Set(codes.map((code) => problemKind(code).status))];
  return statuses.map((status) => [status, [...new Set(codes)].filter((code) => problemKind(code).status === status)]);
}
