import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Response } from 'supertest';
import { errorsOf } from '../testing/api-under-test.contract.js';
import type { ApiUnderTest } from '../testing/api-under-test.contract.js';

/** `GET /jobs`, on any store. */
export function listsContract(given: () => ApiUnderTest): void {
  const list = (query: string | object): Promise<Response> => Promise.resolve(given().http.get('/jobs').query(query));
  const idsOf = ({ body }: Response): readonly string[] => body.items.map(({ id }: { id: string }) => id);

  describe('GET /jobs', () => {
    it('pages through all that match, newest first or oldest first, each once', async () => {
      const tag = randomUUID();
      const made: string[] = [];
      for (let count = 0; count < 7; count += 1) made.push((await given().submit({ tags: [tag] })).id);
      for (const sort of ['createdAt', '-createdAt']) {
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page: Response = await list({ tag, sort, limit: 3, ...(cursor !== null && { cursor }) });
          seen.push(...idsOf(page));
          cursor = page.body.nextCursor;
        } while (cursor !== null);
        expect(seen).toEqual(sort === 'createdAt' ? made : made.toReversed());
      }
    });

    it('newest first unless told otherwise, 50 on a page', async () => {
      const tag = randomUUID();
      const first = await given().submit({ tags: [tag] });
      const second = await given().submit({ tags: [tag] });
      const page = await list({ tag });
      expect(idsOf(page)).toEqual([second.id, first.id]);
      expect(page.body).toMatchObject({ nextCursor: null, limit: 50 });
    });

    it('200 with an empty list when nothing matches', async () => {
      const answer = await list({ tag: randomUUID() });
      expect([answer.status, answer.text]).toEqual([200, '{"items":[],"nextCursor":null,"limit":50}']);
    });

    it('states in any case, by commas and by repeating; other filters all have to match', async () => {
      const tag = randomUUID();
      const pending = await given().submit({ tags: [tag] });
      const scheduled = await given().submit({ tags: [tag, 'other'], delaySeconds: 600, queue: 'mail' });
      const cancelled = await given().submit({ tags: [tag], type: 'order.charge' });
      await given().http.delete(`/jobs/${cancelled.id}`).expect(200);
      const both = [scheduled.id, pending.id];
      for (const query of [`state=PENDING,Scheduled`, `state=pending&state=SCHEDULED`]) {
        expect(idsOf(await list(`tag=${tag}&${query}`))).toEqual(both);
      }
      expect(idsOf(await list({ tag, type: 'order.charge' }))).toEqual([cancelled.id]);
      expect(idsOf(await list({ tag, queue: 'mail' }))).toEqual([scheduled.id]);
      expect(idsOf(await list(`tag=${tag}&queue=mail,default&state=cancelled`))).toEqual([cancelled.id]);
      expect(idsOf(await list({ tag, state: 'dead' }))).toEqual([]);
    });

    it('createdAfter and createdBefore bound the time of creation', async () => {
      const tag = randomUUID();
      const job = await given().submit({ tags: [tag] });
      const at = new Date(String(job['createdAt'])).getTime();
      const early = new Date(at - 60_000).toISOString();
      const late = new Date(at + 60_000).toISOString();
      expect(idsOf(await list({ tag, createdAfter: early, createdBefore: late }))).toEqual([job.id]);
      expect(idsOf(await list({ tag, createdAfter: late }))).toEqual([]);
      expect(idsOf(await list({ tag, createdBefore: early }))).toEqual([]);
      expect((await list({ createdAfter: '0001-01-01T00:00:00+14:00' })).status).toBe(200);
      expect((await list({ createdBefore: '9999-12-31T23:59:59-14:00' })).status).toBe(200);
    });

    it('a limit above 200 is clamped and told', async () => {
      for (const limit of ['201', '99999999999999999999', '0200']) expect((await list({ limit })).body.limit).toBe(200);
      expect((await list({ limit: '007' })).body.limit).toBe(7);
    });

    it('count=exact counts what matches', async () => {
      const tag = randomUUID();
      for (let count = 0; count < 3; count += 1) await given().submit({ tags: [tag] });
      expect((await list({ tag, limit: 1, count: 'exact' })).body).toMatchObject({ count: 3, atLeast: false });
      expect((await list({ tag, limit: 1 })).body).not.toHaveProperty('count');
    });

    it('tags of every kind can be asked for', async () => {
      const tags = ['😀'.repeat(256), 'a,b', 'مرحبا', '../x', '__proto__', 'a&b=c %'];
      const { id } = await given().submit({ tags });
      for (const tag of tags) expect(idsOf(await list({ tag }))).toContain(id);
    });

    it.each([
      ['limit=0', 'invalid-format limit'],
      ['limit=-1', 'invalid-format limit'],
      ['limit=x', 'invalid-format limit'],
      ['limit=1.5', 'invalid-format limit'],
      ['limit=', 'invalid-format limit'],
      ['limit=1&limit=2', 'invalid-type limit'],
      ['state=', 'invalid-value state'],
      ['state=nope', 'invalid-value state'],
      ['state=pending,', 'invalid-value state'],
      ['stat=failed', 'unknown-parameter stat'],
      ['type=A', 'invalid-value type'],
      ['tag=%00', 'invalid-value tag'],
      ['sort=id', 'invalid-value sort'],
      ['count=about', 'invalid-value count'],
      ['createdAfter=yesterday', 'invalid-format createdAfter'],
      ['createdAfter=2027-02-30T00:00:00Z', 'invalid-format createdAfter'],
      ['createdBefore=2027-02-28', 'invalid-format createdBefore'],
      ['cursor=', 'malformed-cursor cursor'],
      ['cursor=x', 'malformed-cursor cursor'],
      ['cursor=%00', 'malformed-cursor cursor'],
      ['__proto__=1', 'unknown-parameter __proto__'],
    ])('400: %s', async (query, error) => {
      const answer = await list(query);
      expect([answer.status, ...errorsOf(answer)]).toEqual([400, error]);
    });

    it('tells all faults of a query at once', async () => {
      const answer = await list('limit=0&state=nope&stat=1');
      expect(errorsOf(answer).toSorted()).toEqual([
        'invalid-format limit',
        'invalid-value state',
        'unknown-parameter stat',
      ]);
    });

    it('400: a cursor of other filters or another order', async () => {
      const tag = randomUUID();
      for (let count = 0; count < 2; count += 1) await given().submit({ tags: [tag] });
      const { nextCursor } = (await list({ tag, limit: 1 })).body;
      for (const query of [{ tag: 'other' }, { tag, sort: 'createdAt' }, { tag, state: 'pending' }, {}]) {
        const answer = await list({ ...query, cursor: nextCursor });
        expect([answer.status, answer.body.code, ...errorsOf(answer)]).toEqual([
          400,
          'invalid-cursor',
          'foreign-cursor cursor',
        ]);
      }
      expect((await list({ tag, cursor: nextCursor, limit: 5 })).status).toBe(200);
    });

    it('a cursor that somebody changed is refused or harmless, never an error of ours', async () => {
      const tag = randomUUID();
      for (let count = 0; count < 2; count += 1) await given().submit({ tags: [tag] });
      const cursor = String((await list({ tag, limit: 1 })).body.nextCursor);
      for (let at = 0; at < cursor.length; at += 1) {
        const changed = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
        const answer = await list({ tag, limit: 1, cursor: changed });
        expect([200, 400]).toContain(answer.status);
      }
    });
  });
}
