import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { OpenAPIObject } from '@nestjs/swagger';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { PROBLEM_CODES } from '../problems/problem-page.js';
import { startApi } from '../testing/api-under-test.contract.js';
import type { ApiUnderTest } from '../testing/api-under-test.contract.js';
import { memoryParts } from '../testing/memory-parts.contract.js';
import { OPERATIONS } from './operations.js';
import {
  AttemptListResource,
  BatchResource,
  DeadLetterListResource,
  DeadLetterResource,
  JobListResource,
  JobResource,
  ProblemKindListResource,
  ProblemResource,
  QueueListResource,
  QueueResource,
} from './resources.js';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Record<
    string,
    {
      description: string;
      headers?: object;
      content?: Record<string, { schema: { $ref?: string }; examples?: object }>;
    }
  >;
}

let api: ApiUnderTest;
let document: OpenAPIObject;
let operations: readonly (readonly [string, Operation])[];

beforeAll(async () => {
  api = await startApi(memoryParts(), { version: '1.2.3' });
  document = (await api.http.get('/openapi.json')).body;
  operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [`${method} ${path}`, operation as Operation] as const),
  );
});
afterAll(() => api.close());

describe('/openapi.json', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const validator = new Validator();
    const result = await validator.validate({ ...structuredClone(document) });
    expect(result).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(document.info).toMatchObject({ title: 'Deadman', version: '1.2.3' });
    expect(document.servers).toEqual([expect.objectContaining({ url: '/' })]);
  });

  it('has every path and method of the api, each with an id of its own', () => {
    expect(operations.map(([name]) => name).toSorted()).toEqual([
      'delete /jobs/{id}',
      'get /dead-letters',
      'get /dead-letters/{id}',
      'get /jobs',
      'get /jobs/{id}',
      'get /jobs/{id}/attempts',
      'get /problems',
      'get /problems/{code}',
      'get /queues',
      'get /queues/{name}',
      'post /dead-letters/{id}/redrive',
      'post /jobs',
      'post /jobs/batch',
      'post /jobs/{id}/retry',
    ]);
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids)).toEqual(new Set(Object.values(OPERATIONS).map(({ id }) => id)));
    expect(ids).toHaveLength(new Set(ids).size);
  });

  it('every answer has a schema and the request id, every fault is a problem with examples', () => {
    for (const [name, { responses }] of operations) {
      for (const [status, { description, headers, content }] of Object.entries(responses)) {
        const where = `${name} ${status}`;
        expect([where, description.length > 0, Object.keys(headers ?? {})]).toEqual([
          where,
          true,
          expect.arrayContaining(['X-Request-Id']),
        ]);
        const type = Number(status) < 400 ? 'application/json' : 'application/problem+json';
        if (status === '304') continue;
        expect([where, content?.[type]?.schema.$ref]).toEqual([
          where,
          expect.stringMatching(/^#\/components\/schemas\/\w+$/),
        ]);
        if (Number(status) >= 400) {
          expect([where, content?.[type]?.schema.$ref]).toEqual([where, '#/components/schemas/Problem']);
          expect(Object.keys(content?.[type]?.examples ?? {}).length).toBeGreaterThan(0);
        }
        if (status === '503') expect(headers).toHaveProperty('Retry-After');
      }
      expect([name, Object.keys(responses)]).toEqual([name, expect.arrayContaining(['400', '500', '503'])]);
    }
  });

  it('every reference leads somewhere', () => {
    const names = new Set(Object.keys(document.components?.schemas ?? {}));
    const references = JSON.stringify(document).match(/"#\/components\/schemas\/\w+"/g) ?? [];
    for (const reference of references) expect(names).toContain(reference.slice('"#/components/schemas/'.length, -1));
  });

  it('names every problem that an operation can answer with, and no other', () => {
    const atNoOperation = [
      'malformed-http',
      'resource-not-found',
      'method-not-allowed',
      'request-timeout',
      'expectation-failed',
      'headers-too-large',
    ];
    const named = new Set(
      operations.flatMap(([, { responses }]) =>
        Object.values(responses).flatMap(({ content }) =>
          Object.keys(content?.['application/problem+json']?.examples ?? {}),
        ),
      ),
    );
    expect(PROBLEM_CODES.filter((code) => !named.has(code))).toEqual(atNoOperation);
  });

  it('the examples of requests are ones that the api takes', async () => {
    for (const path of ['/jobs', '/jobs/batch']) {
      const operation = document.paths[path]?.post as {
        requestBody: { content: Record<string, { examples: Record<string, { value: object }> }> };
      };
      const examples = Object.entries(operation.requestBody.content['application/json']?.examples ?? {});
      expect(examples.length).toBeGreaterThan(1);
      for (const [name, { value }] of examples) {
        const answer = await api.http.post(path).send(value);
        expect([path, name, answer.status]).toEqual([path, name, name === 'partial' ? 207 : 201]);
      }
    }
  });

  it('describes the parameters of lists', () => {
    const list = document.paths['/jobs']?.get as {
      parameters: { name: string; in: string; required: boolean; schema: { type: string } }[];
    };
    const query = list.parameters.filter((parameter) => parameter.in === 'query');
    expect(query.map(({ name, required, schema }) => `${name} ${schema.type} ${required}`)).toEqual([
      'state array false',
      'type array false',
      'queue array false',
      'tag array false',
      'createdAfter string false',
      'createdBefore string false',
      'sort string false',
      'limit integer false',
      'cursor string false',
      'count string false',
    ]);
  });
});

describe('answers are what the document says', () => {
  const expectShape = (schema: z.ZodType, body: unknown): void => expect(schema.safeParse(body).error).toBeUndefined();

  it('jobs in every state, lists, attempts, letters, queues, problems and batches', async () => {
    const running = await api.submit({ retry: { kind: 'none' }, queue: 'mail' }, { 'idempotency-key': randomUUID() });
    await api.claim(running.id);
    const succeeded = await api.submit({ retry: { kind: 'fixed', baseSeconds: 1 } });
    await api.succeed(succeeded.id);
    const dead = await api.submit();
    const letterId = await api.kill(dead.id);
    for (const id of [running.id, succeeded.id, dead.id])
      expectShape(JobResource, (await api.http.get(`/jobs/${id}`)).body);
    expectShape(JobListResource, (await api.http.get('/jobs?count=exact')).body);
    expectShape(AttemptListResource, (await api.http.get(`/jobs/${dead.id}/attempts`)).body);
    expectShape(DeadLetterListResource, (await api.http.get('/dead-letters')).body);
    expectShape(DeadLetterResource, (await api.http.get(`/dead-letters/${letterId}`)).body);
    expectShape(QueueListResource, (await api.http.get('/queues')).body);
    expectShape(QueueResource, (await api.http.get('/queues/mail')).body);
    expectShape(ProblemKindListResource, (await api.http.get('/problems')).body);
    const batch = { mode: 'partial', jobs: [{ type: 'demo.echo' }, { type: 'A' }] };
    expectShape(BatchResource, (await api.http.post('/jobs/batch').send(batch)).body);
    for (const path of ['/jobs/x', '/jobs?limit=0', '/nope'])
      expectShape(ProblemResource, (await api.http.get(path)).body);
    expectShape(ProblemResource, (await api.http.delete(`/jobs/${dead.id}`)).body);
    expectShape(ProblemResource, (await api.http.post(`/jobs/${running.id}/retry`)).body);
  });
});

describe('/docs', () => {
  it('is a page with its scripts and styles', async () => {
    const page = await api.http.get('/docs');
    expect(page.text).toContain('<title>Deadman API</title>');
    const assets = [...page.text.matchAll(/(?:src|href)="(\.\/docs\/[^"]+)"/g)].map(([, path = '']) => path.slice(1));
    expect(assets.length).toBeGreaterThan(3);
    for (const path of assets) expect([path, (await api.http.get(path)).status]).toEqual([path, 200]);
  });
});
