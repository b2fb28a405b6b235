import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { aCancel } from '@deadman/testing';
import { applyOne, errorsOf, postText } from '../testing/api-under-test.contract.js';
import type { ApiUnderTest } from '../testing/api-under-test.contract.js';
import { rawRequest } from '../testing/raw-request.contract.js';

/** The table "Idempotency-Key" of the api's description, line by line, on any store. */
export function idempotencyContract(given: () => ApiUnderTest): void {
  describe('Idempotency-Key', () => {
    const post = (key: string, body: object, headers: object = {}): ReturnType<typeof postText> =>
      postText(given(), '/jobs', JSON.stringify(body), { 'idempotency-key': key, ...headers });

    it('a new key makes a job and says that it is no replay', async () => {
      const answer = await post(randomUUID(), { type: 'demo.echo' });
      expect(answer.status).toBe(201);
      expect(answer.headers).toMatchObject({ 'idempotent-replayed': 'false', location: `/jobs/${answer.body.id}` });
      expect(answer.headers).not.toHaveProperty('idempotency-mismatch');
    });

    it('a job without a key says nothing of replays', async () => {
      const answer = await postText(given(), '/jobs', '{"type":"demo.echo"}');
      expect(answer.headers).not.toHaveProperty('idempotent-replayed');
    });

    it('the same request gives the same job, with other white space and members reordered, too', async () => {
      const key = randomUUID();
      const first = await postText(
        given(),
        '/jobs',
        '{"type":"demo.echo","payload":{"a":[1,{"b":2,"c":"é"}],"d":1.10},"maxAttempts":3}',
        { 'idempotency-key': key },
      );
      const again = await postText(
        given(),
        '/jobs',
        ' { "maxAttempts" : 3 , "payload" : { "d" : 1.10, "a" : [ 1 , { "c" : "\\u00e9", "b" : 2 } ] },\n"type":"demo.echo"}',
        { 'idempotency-key': key },
      );
      expect(first.status).toBe(201);
      expect(again.status).toBe(200);
      expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true' });
      expect(again.headers).not.toHaveProperty('idempotency-mismatch');
      expect(again.headers).not.toHaveProperty('location');
      expect(again.body.id).toBe(first.body.id);
      expect(again.text).toContain('"payload":{"a":[1,{"b":2,"c":"é"}],"d":1.10}');
    });

    it('another request gives the first job with its own payload and options, and names what differs', async () => {
      const key = randomUUID();
      const first = await post(key, { type: 'demo.echo', payload: { n: 1 } });
      const other = await post(key, { type: 'order.charge', payload: { n: 2 }, maxAttempts: 9 });
      expect(other.status).toBe(200);
      expect(other.headers).toMatchObject({
        'idempotent-replayed': 'true',
        'idempotency-mismatch': 'maxAttempts, payload, type',
      });
      expect(other.body).toMatchObject({ id: first.body.id, type: 'demo.echo', payload: { n: 1 }, maxAttempts: 5 });
    });

    it('numbers count by their spelling, because a handler is given the text', async () => {
      const key = randomUUID();
      await postText(given(), '/jobs', '{"type":"demo.echo","payload":1.10}', { 'idempotency-key': key });
      const other = await postText(given(), '/jobs', '{"type":"demo.echo","payload":1.1}', { 'idempotency-key': key });
      expect(other.headers).toMatchObject({ 'idempotency-mismatch': 'payload' });
    });

    it('an absent payload is {}', async () => {
      const key = randomUUID();
      await post(key, { type: 'demo.echo' });
      const again = await post(key, { type: 'demo.echo', payload: {} });
      expect(again.headers).not.toHaveProperty('idempotency-mismatch');
    });

    it('with Prefer: handling=strict another request is refused and changes nothing', async () => {
      const key = randomUUID();
      const first = await post(key, { type: 'demo.echo', payload: 1 });
      const other = await post(key, { type: 'demo.echo', payload: 2 }, { prefer: 'respond-async, handling=strict' });
      expect(other.status).toBe(422);
      expect(other.body).toMatchObject({ code: 'idempotency-key-reused', retryable: false });
      expect(other.headers).toMatchObject({ 'preference-applied': 'handling=strict' });
      expect(errorsOf(other)).toEqual(['idempotency-key-reused /payload']);
      const job = await given().http.get(`/jobs/${first.body.id}`);
      expect(job.body).toEqual(expect.objectContaining({ payload: 1, version: first.body.version }));
    });

    it('with Prefer: handling=strict the same request is answered as ever', async () => {
      const key = randomUUID();
      await post(key, { type: 'demo.echo' });
      const again = await post(key, { type: 'demo.echo' }, { prefer: 'handling="strict"' });
      expect(again.status).toBe(200);
      expect(again.headers).toMatchObject({ 'preference-applied': 'handling=strict' });
    });

    it('a hundred at once make one job', async () => {
      const key = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => post(key, { type: 'demo.echo', tags: [key] })),
      );
      const statuses = answers.map(({ status }) => status).toSorted((left, right) => left - right);
      expect(statuses).toEqual([...Array.from({ length: 99 }, () => 200), 201]);
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      const list = await given().http.get('/jobs').query({ tag: key, count: 'exact' });
      expect(list.body.count).toBe(1);
    });

    it.each(['succeeded', 'cancelled', 'dead'])(
      'a key whose job has %s gives that job, and no new one',
      async (end) => {
        const key = randomUUID();
        const { id } = await given().submit({}, { 'idempotency-key': key });
        if (end === 'succeeded') await given().succeed(id);
        if (end === 'dead') await given().kill(id);
        if (end === 'cancelled') await given().http.delete(`/jobs/${id}`).expect(200);
        const again = await post(key, { type: 'demo.echo' });
        expect(again.status).toBe(200);
        expect(again.body).toMatchObject({ id, state: end });
      },
    );

    it('a replay tells the state of now: a running job with its lease and progress', async () => {
      const key = randomUUID();
      const { id } = await given().submit({}, { 'idempotency-key': key });
      const job = await given().claim(id);
      const { attempt, claim } = job;
      await given().store.saveProgress([{ jobId: id, attempt, token: claim.token, value: '{"done":0.50}' }]);
      const again = await post(key, { type: 'demo.echo' });
      expect(again.body).toMatchObject({ state: 'running', lease: { workerId: claim.workerId, attempt: 1 } });
      expect(again.text).toContain('"progress":{"done":0.50}');
      await applyOne(given().store, aCancel(job));
      expect((await post(key, { type: 'demo.echo' })).body.cancelRequestedAt).not.toBeNull();
    });

    it('an invalid body takes no key: the corrected one makes the job', async () => {
      const key = randomUUID();
      expect((await post(key, { type: 'demo.echo', delaySeconds: '5s' })).status).toBe(400);
      expect((await post(key, { type: 'demo.echo', delaySeconds: 5 })).status).toBe(201);
    });

    it('"abc" and abc are the same key', async () => {
      const key = randomUUID();
      const first = await post(`"${key}"`, { type: 'demo.echo' });
      const again = await post(key, { type: 'demo.echo' });
      expect(first.body.idempotencyKey).toBe(key);
      expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    });

    it('255 characters are a key, and quotes do not count', async () => {
      const key = randomUUID().padEnd(255, 'x');
      expect((await post(`"${key}"`, { type: 'demo.echo' })).status).toBe(201);
    });

    it.each([
      ['empty', ''],
      ['empty between quotes', '""'],
      ['of 256 characters', 'x'.repeat(256)],
      ['with a tab', 'a\tb'],
      ['not ASCII', 'sch\u00f6n'],
      ['a quote that does not close', '"abc'],
      ['a quote inside', '"a"b"'],
    ])('a key that is %s is refused', async (_what, key) => {
      const answer = await post(key, { type: 'demo.echo' });
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid-idempotency-key']);
      expect(errorsOf(answer)).toEqual(['invalid-idempotency-key Idempotency-Key']);
    });

    it('two header lines are refused, even with the same key', async () => {
      const text = await rawRequest(given().port, [
        'POST /jobs HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        'Content-Length: 20',
        'Idempotency-Key: abc',
        'Idempotency-Key: abc',
        'Connection: close',
        '',
        '{"type":"demo.echo"}',
      ]);
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text).toContain('"code":"invalid-idempotency-key"');
    });

    it('a client that never got its answer gets the job when it repeats', async () => {
      const key = randomUUID();
      const body = JSON.stringify({ type: 'demo.echo', tags: [key] });
      const socket = connect(given().port, '127.0.0.1');
      socket.write(
        `POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nIdempotency-Key: ${key}\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      );
      await new Promise((resolve) => socket.once('data', resolve));
      socket.destroy();
      const again = await post(key, { type: 'demo.echo', tags: [key] });
      expect(again.status).toBe(200);
      const list = await given().http.get('/jobs').query({ tag: key });
      expect(list.body.items.map(({ id }: { id: string }) => id)).toEqual([again.body.id]);
    });
  });
}
