import { Body, Controller, Inject, Post, Query, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import type { Answer } from '../http/answer.js';
import type { RouteSettings } from '../http/api-adapter.js';
import { bad, faultsOf, good, requireAll } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { JsonBody } from '../json/json-body.js';
import { NoParameters } from '../lists/list-parameters.js';
import { fault } from '../problems/fault.js';
import { batchJson } from './batch-json.js';
import { batchFaults, readBatch } from './batch-reader.js';
import { BatchSubmit } from './batch-submit.js';
import { BatchEnvelope } from './create-job.dto.js';
import { jobDataAnswer } from './job-answers.js';
import { BATCH_BODY_LIMIT_BYTES } from './job-rules.js';
import { SubmissionReader } from './submission-reader.js';
import { prefersStrict, traceparentOf } from './submit-headers.js';
import { Describe } from '../openapi/describe.decorator.js';
import { OPERATIONS } from '../openapi/operations.js';

@Controller('jobs')
export class BatchController {
  constructor(
    @Inject(SubmissionReader) private readonly reader: SubmissionReader,
    @Inject(BatchSubmit) private readonly batches: BatchSubmit,
  ) {}

  /**
   * `Prefer: handling=strict` is honoured in a partial batch. In an atomic one it would come too late: whether a key was
   * used is known when the others are stored. RFC 7240 lets a server pass over it.
   */
  @Describe(OPERATIONS.createJobs)
  @Post('batch')
  @RouteConfig({ bodyLimitBytes: BATCH_BODY_LIMIT_BYTES } satisfies RouteSettings)
  async create(
    @Body({ schema: BatchEnvelope }) checked: Checked<BatchEnvelope>,
    @Query({ schema: NoParameters }) query: Checked<object>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    const body = request.body instanceof JsonBody ? request.body : null;
    const jobs = body === null ? [] : readBatch(body, this.reader, traceparentOf(request.headers));
    const envelope = checkEnvelope(checked, query, request, body);
    // A fault of the batch itself refuses all of it, and those of its jobs are told along.
    if (!envelope.ok || envelope.value.mode === 'atomic') {
      const [, ...submissions] = requireAll(envelope, ...jobs);
      const outcomes = await this.batches.atomic(submissions);
      const isNew = outcomes.some(({ replayed }) => !replayed);
      return jobDataAnswer(isNew ? 201 : 200, batchJson(outcomes, request.id));
    }
    const items = await this.batches.partial(jobs, prefersStrict(request.headers));
    return jobDataAnswer(207, batchJson(items, request.id));
  }
}

function checkEnvelope(
  checked: Checked<BatchEnvelope>,
  query: Checked<object>,
  request: FastifyRequest,
  body: JsonBody | null,
): Checked<BatchEnvelope> {
  const header = { header: 'Idempotency-Key' };
  const keyFault = fault('unexpected-header', header, 'Each job of a batch has a key of its own, in idempotencyKey.');
  const isKeyed = request.headers['idempotency-key'] !== undefined;
  const faults = [
    ...faultsOf(checked, query),
    ...(isKeyed ? [keyFault] : []),
    ...(body === null ? [] : batchFaults(body)),
  ];
  return checked.ok && faults.length === 0 ? good(checked.value) : bad(faults);
}
