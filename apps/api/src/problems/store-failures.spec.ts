import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DeadmanError, ERROR_CODES } from '@deadman/domain';
import type { ErrorCode, JobStore } from '@deadman/domain';
import { randomUUID } from 'node:crypto';
import { postText, startApi } from '../testing/api-under-test.contract.js';
import type { ApiUnderTest } from '../testing/api-under-test.contract.js';
import { memoryParts } from '../testing/memory-parts.contract.js';

let api: ApiUnderTest;
let failure: Error | null = null;

/** The store, of which every method throws `failure` while there is one. */
function failing<T extends JobStore>(store: T): T {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => (failure === null ? Reflect.apply(member, target, args) : Promise.reject(failure));
    },
  });
}

beforeAll(async () => {
  const parts = memoryParts();
  api = await startApi({ ...parts, store: failing(parts.store) });
});
beforeEach(() => void (failure = null));
afterAll(() => api.close());

const EXPECTED: Partial<Record<ErrorCode, readonly [number, string]>> = {
  'data-rejected': [422, 'data-rejected'],
  'unknown-outcome': [503, 'unknown-outcome'],
  overloaded: [503, 'overloaded'],
  'shutting-down': [503, 'shutting-down'],
  'handler-invalid': [500, 'internal-error'],
  'configuration-invalid': [500, 'internal-error'],
};

describe('when the store fails', () => {
  it.each(Object.keys(ERROR_CODES) as ErrorCode[])('a submit that met %s says so', async (code) => {
    failure = new DeadmanError(code, 'SELECT secret FROM jobs');
    const answer = await postText(api, '/jobs', '{"type":"demo.echo"}');
    const [status, problem] = EXPECTED[code] ?? [503, 'store-unavailable'];
    expect([answer.status, answer.body.code]).toEqual([status, problem]);
    expect(answer.body.retryable).toBe(status === 503);
    expect(answer.headers['retry-after'] !== undefined).toBe(status === 503);
    expect(answer.text).not.toContain('secret');
  });

  it('every endpoint says 503 with Retry-After when the database is away, and works again afterwards', async () => {
    const { id } = await api.submit();
    const ask = {
      create: () => postText(api, '/jobs', '{"type":"demo.echo"}'),
      batch: () => postText(api, '/jobs/batch', '{"jobs":[{"type":"demo.echo"}]}'),
      list: () => api.http.get('/jobs'),
      get: () => api.http.get(`/jobs/${id}`),
      attempts: () => api.http.get(`/jobs/${id}/attempts`),
      queues: () => api.http.get('/queues'),
      queue: () => api.http.get('/queues/default'),
      letters: () => api.http.get('/dead-letters'),
      letter: () => api.http.get(`/dead-letters/${randomUUID()}`),
      redrive: () => api.http.post(`/dead-letters/${randomUUID()}/redrive`),
      retry: () => api.http.post(`/jobs/${id}/retry`),
      cancel: () => api.http.delete(`/jobs/${id}`),
    };
    failure = new DeadmanError('store-unavailable');
    for (const [name, request] of Object.entries(ask)) {
      const { status, body, headers } = await request();
      expect([name, status, body.code, body.retryable]).toEqual([name, 503, 'store-unavailable', true]);
      expect(headers['retry-after']).toBe('2');
    }
    failure = null;
    for (const [name, request] of Object.entries(ask)) {
      expect([name, (await request()).status]).not.toEqual([name, 503]);
    }
  });

  it('a read that takes too long is 503 query-too-slow', async () => {
    failure = new DeadmanError('statement-timeout');
    for (const path of ['/jobs?state=dead', `/jobs/${randomUUID()}`, '/queues']) {
      const { status, body, headers } = await api.http.get(path);
      expect([status, body.code, headers['retry-after']]).toEqual([503, 'query-too-slow', '5']);
    }
  });

  it('a partial batch says of each job that it was not stored', async () => {
    failure = new DeadmanError('store-unavailable');
    const answer = await postText(api, '/jobs/batch', '{"mode":"partial","jobs":[{"type":"demo.echo"},{"type":"A"}]}');
    expect(answer.status).toBe(207);
    expect(
      answer.body.items.map((item: { status: number; problem: { code: string } }) => [item.status, item.problem.code]),
    ).toEqual([
      [503, 'store-unavailable'],
      [400, 'invalid-request'],
    ]);
  });

  it('an error that nobody knows is 500 and carries the request id alone', async () => {
    failure = new TypeError('secret');
    for (const request of [api.http.get('/jobs'), postText(api, '/jobs', '{"type":"demo.echo"}')]) {
      const { status, body } = await request;
      expect(status).toBe(500);
      expect(body).toEqual({
        type: '/problems/internal-error',
        title: 'The api failed',
        status: 500,
        code: 'internal-error',
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        retryable: false,
      });
    }
  });

  it('a submitter that was closed takes nothing, while reads go on', async () => {
    const other = await startApi(memoryParts());
    const { id } = await other.submit();
    await other.submitter.close();
    for (const [path, text] of [
      ['/jobs', '{"type":"demo.echo"}'],
      ['/jobs/batch', '{"jobs":[{"type":"demo.echo"}]}'],
    ] as const) {
      const answer = await postText(other, path, text);
      expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([503, 'shutting-down', '2']);
    }
    expect((await other.http.get(`/jobs/${id}`)).status).toBe(200);
    await other.close();
  });
});
