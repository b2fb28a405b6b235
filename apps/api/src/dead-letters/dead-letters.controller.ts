import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import { isUuid, JobStore } from '@deadman/domain';
import type { DeadLetter } from '@deadman/domain';
import { JobCommands } from '@deadman/engine';
import type { FastifyRequest } from 'fastify';
import type { Answer } from '../http/answer.js';
import { good, requireAll } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { checkNoBody } from '../http/no-body.js';
import { errorJson } from '../jobs/attempt-error-json.js';
import { jobAnswer, jobDataAnswer, notRetryable } from '../jobs/job-answers.js';
import { instantJson } from '../jobs/job-json.js';
import { positionCursor, readPosition } from '../lists/cursor.js';
import { listJson } from '../lists/list-json.js';
import { NoParameters } from '../lists/list-parameters.js';
import { Problem } from '../problems/problem.js';
import { deadLetterFilterOf, ListDeadLetters, listOfDeadLetters } from './list-dead-letters.dto.js';
import { Describe } from '../openapi/describe.decorator.js';
import { OPERATIONS } from '../openapi/operations.js';

@Controller('dead-letters')
export class DeadLettersController {
  constructor(
    @Inject(JobStore) private readonly store: JobStore,
    @Inject(JobCommands) private readonly commands: JobCommands,
  ) {}

  @Describe(OPERATIONS.listDeadLetters)
  @Get()
  async list(@Query({ schema: ListDeadLetters }) checked: Checked<ListDeadLetters>): Promise<Answer> {
    const [query] = requireAll(checked);
    const list = listOfDeadLetters(query);
    const [after] = requireAll(query.cursor === undefined ? good(undefined) : readPosition(query.cursor, list));
    const page = await this.store.listDeadLetters({
      ...deadLetterFilterOf(query),
      order: query.sort === 'createdAt' ? 'oldest-first' : 'newest-first',
      limit: query.limit,
      ...(after && { after }),
    });
    const nextCursor = page.next === null ? null : positionCursor(page.next, list);
    return jobDataAnswer(200, listJson({ items: page.items.map(deadLetterJson), nextCursor, limit: query.limit }));
  }

  @Describe(OPERATIONS.getDeadLetter)
  @Get(':id')
  async get(@Param('id') id: string, @Query({ schema: NoParameters }) query: Checked<object>): Promise<Answer> {
    requireAll(query);
    const letter = isUuid(id) ? await this.store.findDeadLetter(id) : null;
    if (letter === null) throw new Problem('dead-letter-not-found');
    return jobDataAnswer(200, deadLetterJson(letter));
  }

  /** The retry of the job that died, told by its letter. */
  @Describe(OPERATIONS.redriveDeadLetter)
  @Post(':id/redrive')
  @HttpCode(200)
  async redrive(
    @Param('id') id: string,
    @Query({ schema: NoParameters }) query: Checked<object>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    requireAll(query, checkNoBody(request.body));
    if (!isUuid(id)) throw new Problem('dead-letter-not-found');
    const result = await this.commands.redrive(id);
    switch (result.kind) {
      case 'ready':
        return jobAnswer(200, result.job);
      case 'not-retryable':
        throw notRetryable(result.job);
      case 'superseded':
        throw superseded(result.letter);
      case 'unknown':
        throw new Problem('dead-letter-not-found');
    }
  }
}

function superseded({ jobId, attempt }: DeadLetter): Problem {
  const detail = `The job is no longer dead at attempt ${attempt}.`;
  return new Problem('dead-letter-superseded', { detail, members: { jobId, attempt } });
}

function deadLetterJson(letter: DeadLetter): string {
  return (
    `{"id":"${letter.id}","jobId":"${letter.jobId}","attempt":${letter.attempt},"type":"${letter.type}"` +
    `,"queue":"${letter.queue}","reason":${JSON.stringify(letter.reason)},"error":${errorJson(letter.error)}` +
    `,"failures":${letter.failures},"lapses":${letter.lapses},"diedAt":${instantJson(letter.diedAt)}` +
    `,"recordedAt":${instantJson(letter.recordedAt)},"superseded":${letter.superseded}}`
  );
}
