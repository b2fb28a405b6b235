import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import { isUuid, JobStore } from '@deadman/domain';
import { JobCommands, Submitter } from '@deadman/engine';
import type { FastifyRequest } from 'fastify';
import type { Answer } from '../http/answer.js';
import { requireAll } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { isMatched } from '../http/etag.js';
import { checkNoBody } from '../http/no-body.js';
import { JsonBody } from '../json/json-body.js';
import { skipSpace } from '../json/json-text.js';
import { NoParameters } from '../lists/list-parameters.js';
import { CreateJob } from './create-job.dto.js';
import { readKeyHeader } from './idempotency-key.js';
import {
  alreadyFinished,
  jobAnswer,
  jobDataAnswer,
  jobNotFound,
  notRetryable,
  unchangedAnswer,
} from './job-answers.js';
import { jobETag } from './job-json.js';
import { JobLists } from './job-lists.js';
import { ListAttempts, ListJobs } from './list-jobs.dto.js';
import { SubmissionReader } from './submission-reader.js';
import { SubmitAnswers } from './submit-answers.js';
import { prefersStrict, traceparentOf } from './submit-headers.js';
import { Describe } from '../openapi/describe.decorator.js';
import { OPERATIONS } from '../openapi/operations.js';

@Controller('jobs')
export class JobsController {
  constructor(
    @Inject(JobStore) private readonly store: JobStore,
    @Inject(Submitter) private readonly submitter: Submitter,
    @Inject(JobCommands) private readonly commands: JobCommands,
    @Inject(SubmissionReader) private readonly reader: SubmissionReader,
    @Inject(SubmitAnswers) private readonly answers: SubmitAnswers,
    @Inject(JobLists) private readonly lists: JobLists,
  ) {}

  @Describe(OPERATIONS.createJob)
  @Post()
  async create(
    @Body({ schema: CreateJob }) checked: Checked<CreateJob>,
    @Query({ schema: NoParameters }) query: Checked<object>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    const key = readKeyHeader(request.raw);
    const body = request.body instanceof JsonBody ? request.body : null;
    const text = body?.text ?? '';
    const read = this.reader.read({
      text,
      start: skipSpace(text, 0),
      pointer: '',
      value: body?.value,
      checked,
      key,
      traceparent: traceparentOf(request.headers),
    });
    const [submission] = requireAll(read, query);
    const outcome = await this.answers.outcomeOf(submission, await this.submitter.submit(submission));
    return this.answers.single(outcome, {
      hasKey: submission.fingerprint !== null,
      isStrict: prefersStrict(request.headers),
    });
  }

  @Describe(OPERATIONS.listJobs)
  @Get()
  async list(@Query({ schema: ListJobs }) checked: Checked<ListJobs>): Promise<Answer> {
    const [query] = requireAll(checked);
    return jobDataAnswer(200, await this.lists.jobs(query));
  }

  /** A running job is never answered 304: its worker's sight changes without its version. */
  @Describe(OPERATIONS.getJob)
  @Get(':id')
  async get(
    @Param('id') id: string,
    @Query({ schema: NoParameters }) query: Checked<object>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    requireAll(query);
    const job = isUuid(id) ? await this.store.findJob(id) : null;
    if (job === null) throw jobNotFound();
    const isKnown = job.state !== 'RUNNING' && isMatched(request.headers['if-none-match'], jobETag(job));
    return isKnown ? unchangedAnswer(job) : jobAnswer(200, job);
  }

  @Describe(OPERATIONS.cancelJob)
  @Delete(':id')
  async cancel(
    @Param('id') id: string,
    @Query({ schema: NoParameters }) query: Checked<object>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    requireAll(query, checkNoBody(request.body));
    if (!isUuid(id)) throw jobNotFound();
    const result = await this.commands.cancel(id);
    switch (result.kind) {
      case 'cancelled':
        return jobAnswer(200, result.job);
      case 'asked':
        return jobAnswer(202, result.job);
      case 'finished':
        throw alreadyFinished(result.job);
      case 'unknown':
        throw jobNotFound();
    }
  }

  @Describe(OPERATIONS.retryJob)
  @Post(':id/retry')
  @HttpCode(200)
  async retry(
    @Param('id') id: string,
    @Query({ schema: NoParameters }) query: Checked<object>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    requireAll(query, checkNoBody(request.body));
    if (!isUuid(id)) throw jobNotFound();
    const result = await this.commands.retry(id);
    switch (result.kind) {
      case 'ready':
        return jobAnswer(200, result.job);
      case 'not-retryable':
        throw notRetryable(result.job);
      case 'unknown':
        throw jobNotFound();
    }
  }

  @Describe(OPERATIONS.listAttempts)
  @Get(':id/attempts')
  async attempts(
    @Param('id') id: string,
    @Query({ schema: ListAttempts }) checked: Checked<ListAttempts>,
  ): Promise<Answer> {
    const [query] = requireAll(checked);
    const list = isUuid(id) ? await this.lists.attempts(id, query) : null;
    if (list === null) throw jobNotFound();
    return jobDataAnswer(200, list);
  }
}
