import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { METHODS } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { errorsOf, postText, startApi } from '../testing/api-under-test.contract.js';
import type { ApiUnderTest } from '../testing/api-under-test.contract.js';
import { memoryParts } from '../testing/memory-parts.contract.js';
import { rawRequest } from '../testing/raw-request.contract.js';

let api: ApiUnderTest;

beforeAll(async () => void (api = await startApi(memoryParts(), { requestTimeoutMs: 300, requestTimeoutCheckMs: 50 })));
afterAll(() => api.close());

const PATHS: Readonly<Record<string, string>> = {
  '/jobs': 'GET, HEAD, POST',
  '/jobs/batch': 'POST',
  '/jobs/x': 'DELETE, GET, HEAD',
  '/jobs/x/retry': 'POST',
  '/jobs/x/attempts': 'GET, HEAD',
  '/queues': 'GET, HEAD',
  '/queues/default': 'GET, HEAD',
  '/dead-letters': 'GET, HEAD',
  '/dead-letters/x': 'GET, HEAD',
  '/dead-letters/x/redrive': 'POST',
  '/problems': 'GET, HEAD',
  '/problems/overloaded': 'GET, HEAD',
  '/openapi.json': 'GET, HEAD',
  '/docs': 'GET, HEAD',
};

/** A problem as it has to be, whatever its code. */
function expectProblem(text: string, status: number, code: string): void {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head.toLowerCase()).toContain('content-type: application/problem+json');
  expect(head.toLowerCase()).toContain('x-request-id: ');
  expect(JSON.parse(body)).toMatchObject({ type: `/problems/${code}`, status, code, retryable: expect.any(Boolean) });
}

describe('methods', () => {
  it.each(Object.entries(PATHS))(
    '%s answers every method that it does not have with 405 and Allow',
    async (path, allow) => {
      for (const method of METHODS.filter((name) => name !== 'CONNECT' && !allow.split(', ').includes(name))) {
        const text = await rawRequest(api.port, [`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', '', '']);
        expect(`${method} ${text.slice(0, 12)}`).toBe(`${method} HTTP/1.1 405`);
        expect(text.toLowerCase()).toContain(`allow: ${allow.toLowerCase()}\r\n`);
        if (method !== 'HEAD') expectProblem(text, 405, 'method-not-allowed');
      }
    },
  );

  it('a wrong method outweighs a wrong media type', async () => {
    const answer = await api.http.put('/jobs').type('text/plain').send('x');
    expect(answer.status).toBe(405);
  });

  it('HEAD answers what GET does, without the body', async () => {
    const { id } = await api.submit();
    for (const path of [
      `/jobs/${id}`,
      '/jobs',
      `/jobs/${id}/attempts`,
      '/queues',
      '/problems/overloaded',
      '/openapi.json',
    ]) {
      const get = await api.http.get(path);
      const head = await api.http.head(path);
      expect([path, head.status, head.text]).toEqual([path, 200, undefined]);
      expect(head.headers['content-length']).toBe(get.headers['content-length']);
      expect(head.headers['etag']).toBe(get.headers['etag']);
    }
    const missing = await api.http.head(`/jobs/${randomUUID()}`);
    expect(missing.status).toBe(404);
  });
});

describe('what no route answers', () => {
  it.each([
    '/',
    '/nope',
    '/jobs/',
    '//jobs',
    '/jobs/x/y/z',
    '/JOBS',
    '/problems/',
    '/docs/nope.js',
    '/..%2f..%2fetc%2fpasswd',
  ])('404: %s', async (path) => {
    const text = await rawRequest(api.port, [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', '', '']);
    expectProblem(text, 404, 'resource-not-found');
  });

  it('404: an unknown problem', async () => {
    expect((await api.http.get('/problems/nope')).body.code).toBe('problem-not-found');
    expect((await api.http.get('/problems/__proto__')).body.code).toBe('problem-not-found');
  });
});

describe('the files of /docs', () => {
  it.each([
    ['/docs/%00', 404, 'resource-not-found'],
    ['/docs/..', 404, 'resource-not-found'],
    ['/docs/../package.json', 404, 'resource-not-found'],
    ['/docs/%2e%2e/package.json', 404, 'resource-not-found'],
  ])('%s is refused with a problem', async (path, status, code) => {
    const text = await rawRequest(api.port, [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', '', '']);
    expectProblem(text, status, code);
  });

  it('a range that a file does not have is refused with a problem', async () => {
    const answer = await api.http.get('/docs/swagger-ui.css').set('range', 'bytes=99999999-');
    expect([answer.status, answer.body.code]).toEqual([400, 'malformed-http']);
  });
});

describe('what the parser refuses', () => {
  it.each([
    ['no HTTP at all', ['HELLO', '', ''], 400, 'malformed-http'],
    ['an unknown method', ['FOO /jobs HTTP/1.1', 'Host: x', '', ''], 400, 'malformed-http'],
    ['a tunnel', ['CONNECT x:80 HTTP/1.1', 'Host: x:80', '', ''], 400, 'malformed-http'],
    [
      'a target that cannot be decoded',
      ['GET /jobs/%zz HTTP/1.1', 'Host: x', 'Connection: close', '', ''],
      400,
      'malformed-http',
    ],
    ['no Host', ['GET /jobs HTTP/1.1', 'Connection: close', '', ''], 400, 'malformed-http'],
    ['a header with a NUL', ['GET /jobs HTTP/1.1', 'Host: x', 'X: a\0b', '', ''], 400, 'malformed-http'],
    [
      'two lengths',
      ['POST /jobs HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2', '', 'x'],
      400,
      'malformed-http',
    ],
    [
      'headers of 20 kB',
      ['GET /jobs HTTP/1.1', 'Host: x', `X: ${'x'.repeat(20_000)}`, '', ''],
      431,
      'headers-too-large',
    ],
    [
      'an expectation',
      ['POST /jobs HTTP/1.1', 'Host: x', 'Expect: nothing', 'Content-Length: 0', 'Connection: close', '', ''],
      417,
      'expectation-failed',
    ],
  ])('%s', async (_what, lines, status, code) => {
    expectProblem(unchunked(await rawRequest(api.port, lines)), status, code);
  });

  it('408: a request that does not arrive in time', async () => {
    const lines = [
      'POST /jobs HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      'Content-Length: 20',
      '',
      '{"type',
    ];
    expectProblem(await rawRequest(api.port, lines), 408, 'request-timeout');
  });
});

describe('bodies', () => {
  it.each([
    ['text/plain', 'text/plain', 'x'],
    ['a JSON dialect', 'application/merge-patch+json', '{}'],
    ['a form', 'application/x-www-form-urlencoded', 'a=1'],
    ['another charset', 'application/json; charset=latin1', '{}'],
    ['no type it can read', 'json', '{}'],
  ])('415: %s', async (_what, type, text) => {
    const answer = await api.http.post('/jobs').set('content-type', type).send(text);
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported-media-type']);
  });

  it('415: a body without a type, and a compressed one', async () => {
    const untyped = ['POST /jobs HTTP/1.1', 'Host: x', 'Content-Length: 2', 'Connection: close', '', '{}'];
    expectProblem(await rawRequest(api.port, untyped), 415, 'unsupported-media-type');
    const answer = await postText(api, '/jobs', '{}', { 'content-encoding': 'gzip' });
    expect(answer.status).toBe(415);
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'takes %s',
    async (type) => {
      const answer = await api.http.post('/jobs').set('content-type', type).send('{"type":"demo.echo"}');
      expect(answer.status).toBe(201);
    },
  );

  it('413: a body over 1 MiB, a batch over 4 MiB, each with its limit', async () => {
    const single = await postText(api, '/jobs', `{"type":"demo.echo","payload":"${'x'.repeat(1_048_576)}"}`);
    expect([single.status, single.body.code, single.body.limitBytes]).toEqual([413, 'body-too-large', 1_048_576]);
    const batch = await postText(api, '/jobs/batch', `{"jobs":["${'x'.repeat(4_194_304)}"]}`);
    expect([batch.status, batch.body.code, batch.body.limitBytes]).toEqual([413, 'body-too-large', 4_194_304]);
  });

  it('413 reaches a client that is still sending', async () => {
    const patient = await startApi(memoryParts());
    const body = `{"jobs":["${'x'.repeat(16 * 1_048_576)}"]}`;
    const headers = { 'content-type': 'application/json' };
    for (let time = 0; time < 10; time += 1) {
      const answer = await fetch(`http://127.0.0.1:${patient.port}/jobs/batch`, { method: 'POST', headers, body });
      expect([answer.status, await answer.json()]).toMatchObject([413, { code: 'body-too-large' }]);
    }
    await patient.close();
  });

  it('a batch between 1 and 4 MiB is taken', async () => {
    const job = JSON.stringify({ type: 'demo.echo', payload: 'x'.repeat(200_000) });
    const answer = await postText(api, '/jobs/batch', `{"jobs":[${Array.from({ length: 15 }, () => job).join()}]}`);
    expect(answer.status).toBe(201);
  });

  it('413: a payload over 262,144 bytes as received, whitespace and multi-byte characters counted', async () => {
    for (const payload of [`"${'x'.repeat(262_143)}"`, `[${' '.repeat(262_143)}]`, `"${'é'.repeat(131_072)}"`]) {
      const answer = await postText(api, '/jobs', `{"type":"demo.echo","payload":${payload}}`);
      expect([answer.status, answer.body.code, answer.body.limitBytes]).toEqual([413, 'payload-too-large', 262_144]);
      expect(errorsOf(answer)).toEqual(['payload-too-large /payload']);
    }
  });

  it.each([
    ['nothing', '', 'missing-body '],
    ['no JSON', '{"type":', 'malformed-json '],
    ['two JSON texts', '{} {}', 'malformed-json '],
    ['NaN', '{"type":"a","delaySeconds":NaN}', 'malformed-json '],
    ['a byte order mark', '\uFEFF{"type":"a"}', 'malformed-json '],
    ['a list', '[]', 'invalid-type '],
    ['a text', '"x"', 'invalid-type '],
    ['null', 'null', 'invalid-type '],
  ])('400: %s', async (_what, text, error) => {
    const answer = await postText(api, '/jobs', text);
    expect([answer.status, ...errorsOf(answer)]).toEqual([400, error]);
  });

  it('400: bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{"type":"a","payload":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const answer = await api.http
      .post('/jobs')
      .set('content-type', 'application/json')
      .serialize((body: unknown) => body as string)
      .send(bytes as unknown as string);
    expect([answer.status, answer.body.code]).toEqual([400, 'malformed-json']);
  });

  it('a syntax error tells where, and quotes nothing of the body', async () => {
    const answer = await postText(api, '/jobs', '{"type":"secret" "x":1}');
    expect(answer.body.detail).toBe('The body is not valid JSON (line 1 column 18).');
  });

  it('requests without a body take none, an empty one or {}', async () => {
    const { id } = await api.submit({ delaySeconds: 60 });
    expect((await postText(api, `/jobs/${id}/retry`, '')).status).toBe(200);
    expect((await postText(api, `/jobs/${id}/retry`, '{}')).status).toBe(409);
    const refused = await postText(api, `/jobs/${id}/retry`, '{"now":true}');
    expect([refused.status, ...errorsOf(refused)]).toEqual([400, 'unexpected-body ']);
    expect((await postText(api, `/jobs/${id}/retry`, '{')).body.code).toBe('malformed-json');
    expect((await api.http.delete(`/jobs/${id}`).send({ force: true })).status).toBe(400);
    expect((await api.http.delete(`/jobs/${id}`).type('text/plain').send('x')).status).toBe(415);
  });
});

describe('more bytes of bodies than may be under way', () => {
  const large = `{"type":"demo.echo","payload":"${'x'.repeat(60_000)}"}`;
  const lines = ['POST /jobs HTTP/1.1', 'Host: x', 'Content-Type: application/json', `Content-Length: ${large.length}`];
  let crowded: ApiUnderTest;
  beforeEach(async () => void (crowded = await startApi(memoryParts(), { bodiesLimitBytes: 100_000 })));
  afterEach(() => crowded.close());

  it('503: a large body is refused until there is room again, and a small one is taken', async () => {
    const { socket } = await beginRequest(crowded, [...lines, '', large.slice(0, 10)]);
    try {
      const refused = await postText(crowded, '/jobs', large);
      expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([503, 'overloaded', '1']);
      expect((await postText(crowded, '/jobs', '{"type":"demo.echo"}')).status).toBe(201);
      socket.write(large.slice(10));
      await once(socket, 'data');
      expect((await postText(crowded, '/jobs', large)).status).toBe(201);
    } finally {
      socket.destroy();
    }
  });

  it('what a client announced and did not send takes no room once it has hung up', async () => {
    await hangUp(crowded, [...lines, '', large.slice(0, 10)]);
    expect((await postText(crowded, '/jobs', large)).status).toBe(201);
  });

  it('room is given back with every answer, whatever it is', async () => {
    const texts = [large, `${large}}`, large.replace('demo.echo', 'DEMO'), large];
    for (const text of [...texts, ...texts]) expect((await postText(crowded, '/jobs', text)).status).not.toBe(503);
    expect((await crowded.http.post('/nowhere').type('application/json').send(large)).status).toBe(404);
    expect((await postText(crowded, '/jobs', large)).status).toBe(201);
  });

  it('a body without a length counts as the longest that it may be', async () => {
    const chunked = [
      ...lines.slice(0, 3),
      'Transfer-Encoding: chunked',
      'Connection: close',
      '',
      '2',
      '{}',
      '0',
      '',
      '',
    ];
    expectProblem(unchunked(await rawRequest(crowded.port, chunked)), 503, 'overloaded');
  });
});

describe('a client that hangs up in the middle of its body', () => {
  it('is no failure of the api', async () => {
    const failures: unknown[] = [];
    const logger = { log: () => {}, warn: () => {}, error: (message: unknown) => void failures.push(message) };
    const other = await startApi(memoryParts(), { logger });
    const lines = ['POST /jobs HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 9', '', '{'];
    await hangUp(other, lines);
    expect((await other.http.get('/jobs')).status).toBe(200);
    await other.close();
    expect(failures).toEqual([]);
  });
});

describe('headers', () => {
  it.each(['abc', 'a.b:c/d+e=f@g~h-i_j', 'x'.repeat(128)])('X-Request-Id %s is kept', async (id) => {
    const answer = await api.http.get('/jobs/x').set('x-request-id', id);
    expect([answer.headers['x-request-id'], answer.body.requestId]).toEqual([id, id]);
  });

  it.each(['', 'a b', 'a,b', '<x>', 'x'.repeat(129)])('X-Request-Id "%s" is replaced', async (id) => {
    const answer = await api.http.get('/jobs/x').set('x-request-id', id);
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.body.requestId).toBe(answer.headers['x-request-id']);
  });

  it('every answer has one', async () => {
    for (const path of ['/jobs', '/docs', '/openapi.json', '/nope', '/problems', '/queues']) {
      expect((await api.http.get(path)).headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('job data is never cached', async () => {
    const { id } = await api.submit();
    for (const path of ['/jobs', `/jobs/${id}`, `/jobs/${id}/attempts`, '/queues', '/dead-letters', '/jobs/x']) {
      expect((await api.http.get(path)).headers['cache-control']).toBe('no-store');
    }
  });

  it('a trace context is kept with the job, and one that breaks the rules is dropped', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const traced = await api.submit({}, { traceparent });
    expect((await api.store.findJob(traced.id))?.traceparent).toBe(traceparent);
    const other = await api.submit({}, { traceparent: 'nonsense' });
    expect((await api.store.findJob(other.id))?.traceparent).toBeNull();
  });
});

describe('query parameters', () => {
  it('a path without parameters refuses each that comes', async () => {
    const { id } = await api.submit();
    for (const path of [
      `/jobs/${id}`,
      '/queues',
      '/queues/default',
      '/problems',
      '/problems/overloaded',
      '/dead-letters/x',
    ]) {
      const answer = await api.http.get(path).query({ verbose: '1' });
      expect([answer.status, ...errorsOf(answer)]).toEqual([400, 'unknown-parameter verbose']);
    }
    expect((await api.http.delete(`/jobs/${id}?force=1`)).status).toBe(400);
    expect((await api.http.post(`/jobs/${id}/retry?x=1`)).status).toBe(400);
    expect((await postText(api, '/jobs?dryRun=1', '{"type":"demo.echo"}')).status).toBe(400);
    expect((await postText(api, '/jobs/batch?x=1', '{"jobs":[{"type":"demo.echo"}]}')).status).toBe(400);
  });
});

/** Node frames an answer that is written without a length. */
function unchunked(text: string): string {
  return text.replace(/\r\n\r\n[0-9a-f]+\r\n(.*)\r\n0\r\n\r\n$/s, '\r\n\r\n$1');
}

/** Sends these lines; resolves when the server has made a request of them. */
async function beginRequest(
  { app, port }: ApiUnderTest,
  lines: readonly string[],
): Promise<{ readonly socket: Socket; readonly request: IncomingMessage }> {
  const arrives = once(app.getHttpServer() as Server, 'request') as Promise<[IncomingMessage]>;
  const socket = connect(port, '127.0.0.1', () => socket.write(lines.join('\r\n')));
  const [request] = await arrives;
  return { socket, request };
}

/** Sends these lines and resets the connection once a request is made of them; resolves when the server has noticed. */
async function hangUp(other: ApiUnderTest, lines: readonly string[]): Promise<void> {
  const { socket, request } = await beginRequest(other, lines);
  const isGone = new Promise((resolve) => request.once('close', resolve));
  socket.resetAndDestroy();
  await isGone;
}
