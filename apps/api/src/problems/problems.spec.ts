import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ProblemKindResource } from '../openapi/resources.js';
import { startApi } from '../testing/api-under-test.contract.js';
import type { ApiUnderTest } from '../testing/api-under-test.contract.js';
import { memoryParts } from '../testing/memory-parts.contract.js';
import { fault, FAULTS } from './fault.js';
import type { FaultCode } from './fault.js';
import { PROBLEM_CODES } from './problem-page.js';
import { problemKind } from './problem-table.js';
import { problemsReference } from './problems-reference.js';
import { Problem } from './problem.js';

let api: ApiUnderTest;

beforeAll(async () => void (api = await startApi(memoryParts())));
afterAll(() => api.close());

describe('/problems', () => {
  it('lists every problem', async () => {
    const { body } = await api.http.get('/problems');
    expect(body.items.map(({ code }: { code: string }) => code)).toEqual(PROBLEM_CODES);
  });

  it.each(PROBLEM_CODES)('%s is described to programs and to people', async (code) => {
    const json = await api.http.get(`/problems/${code}`).set('accept', 'application/json');
    expect(ProblemKindResource.safeParse(json.body).error).toBeUndefined();
    expect(json.body).toMatchObject({ code, status: problemKind(code).status, type: `/problems/${code}` });
    const page = await api.http.get(`/problems/${code}`).set('accept', 'text/html,application/xhtml+xml,*/*;q=0.8');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain(`<code>${code}</code>`);
    expect(page.headers['vary']).toBe('accept');
  });

  it('the list is a page for browsers', async () => {
    const { text } = await api.http.get('/problems').set('accept', 'text/html');
    for (const code of PROBLEM_CODES) expect(text).toContain(`href="/problems/${code}"`);
  });

  it('the reference page says what the code says', () => {
    const page = fileURLToPath(new URL('../../../../docs/reference/problems.md', import.meta.url));
    expect(readFileSync(page, 'utf8')).toBe(problemsReference());
  });
});

describe('Problem', () => {
  it.each(Object.keys(FAULTS) as FaultCode[])('a request with the fault %s alone has its problem', (code) => {
    const problem = Problem.of([fault(code, { pointer: '/x' })]);
    expect(problem.code).toBe(FAULTS[code].problem);
    expect(problem.status).toBe(problemKind(FAULTS[code].problem).status);
  });

  it('every pair of faults has a problem, of the lower status', () => {
    const codes = Object.keys(FAULTS) as FaultCode[];
    for (const left of codes) {
      for (const right of codes) {
        const statusOf = (code: FaultCode): number => problemKind(FAULTS[code].problem).status;
        const problem = Problem.of([fault(left, { pointer: '/a' }), fault(right, { pointer: '/b' })]);
        expect(problem.status).toBe(Math.min(statusOf(left), statusOf(right)));
      }
    }
  });

  it('all that can be repeated says when, and nothing else does', () => {
    for (const code of PROBLEM_CODES) {
      const { status, retryable } = problemKind(code);
      expect([code, 'retry-after' in new Problem(code).headers]).toEqual([code, status === 503]);
      expect([code, retryable]).toEqual([code, status === 503 || status === 408]);
    }
  });
});
