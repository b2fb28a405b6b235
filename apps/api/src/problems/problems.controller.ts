import { Controller, Get, Headers, Param, Query } from '@nestjs/common';
import { Answer } from '../http/answer.js';
import { requireAll } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { listJson } from '../lists/list-json.js';
import { NoParameters } from '../lists/list-parameters.js';
import { PROBLEM_CODES, problemJson, problemPage, problemsPage } from './problem-page.js';
import { isProblemCode } from './problem-table.js';
import { Problem } from './problem.js';
import { Describe } from '../openapi/describe.decorator.js';
import { OPERATIONS } from '../openapi/operations.js';

/** What the `type` of a problem leads to: a page for a browser, JSON for everybody else. */
@Controller('problems')
export class ProblemsController {
  @Describe(OPERATIONS.listProblems)
  @Get()
  list(@Headers('accept') accept: string | undefined, @Query({ schema: NoParameters }) query: Checked<object>): Answer {
    requireAll(query);
    if (isBrowser(accept)) return Answer.html(200, problemsPage(), { vary: 'accept' });
    const items = PROBLEM_CODES.map(problemJson);
    return Answer.json(200, listJson({ items, nextCursor: null, limit: items.length }), { vary: 'accept' });
  }

  @Describe(OPERATIONS.getProblem)
  @Get(':code')
  get(
    @Param('code') code: string,
    @Headers('accept') accept: string | undefined,
    @Query({ schema: NoParameters }) query: Checked<object>,
  ): Answer {
    requireAll(query);
    if (!isProblemCode(code)) throw new Problem('problem-not-found');
    return isBrowser(accept)
      ? Answer.html(200, problemPage(code), { vary: 'accept' })
      : Answer.json(200, problemJson(code), { vary: 'accept' });
  }
}

/** Browsers name HTML first; programs that take anything get JSON. */
function isBrowser(accept: string | undefined): boolean {
  return accept !== undefined && /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(accept);
}
