import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { JOB_STATES, JobStore } from '@deadman/domain';
import type { QueueStats } from '@deadman/domain';
import { API_SETTINGS } from '../api-settings.js';
import type { ApiSettings } from '../api-settings.js';
import type { Answer } from '../http/answer.js';
import { requireAll } from '../http/checked.js';
import type { Checked } from '../http/checked.js';
import { jobDataAnswer } from '../jobs/job-answers.js';
import { COUNT_AT_MOST } from '../jobs/job-lists.js';
import { listJson } from '../lists/list-json.js';
import { NoParameters } from '../lists/list-parameters.js';
import { Problem } from '../problems/problem.js';
import { Describe } from '../openapi/describe.decorator.js';
import { OPERATIONS } from '../openapi/operations.js';

/** The queues of the configuration and what is in them. */
@Controller('queues')
export class QueuesController {
  constructor(
    @Inject(JobStore) private readonly store: JobStore,
    @Inject(API_SETTINGS) private readonly settings: ApiSettings,
  ) {}

  /** All of them, on one page: a deployment declares a handful. */
  @Describe(OPERATIONS.listQueues)
  @Get()
  async list(@Query({ schema: NoParameters }) query: Checked<object>): Promise<Answer> {
    requireAll(query);
    const { queues } = this.settings;
    const stats = await this.store.queueStats(queues, COUNT_AT_MOST);
    return jobDataAnswer(200, listJson({ items: stats.map(queueJson), nextCursor: null, limit: queues.length }));
  }

  @Describe(OPERATIONS.getQueue)
  @Get(':name')
  async get(@Param('name') name: string, @Query({ schema: NoParameters }) query: Checked<object>): Promise<Answer> {
    requireAll(query);
    const [stats] = this.settings.queues.includes(name) ? await this.store.queueStats([name], COUNT_AT_MOST) : [];
    if (stats === undefined) throw new Problem('queue-not-found');
    return jobDataAnswer(200, queueJson(stats));
  }
}

/** `atLeast` names the states whose count stopped at the limit. */
function queueJson({ queue, counts, capped, oldestPendingAgeMs }: QueueStats): string {
  return JSON.stringify({
    name: queue,
    counts: Object.fromEntries(JOB_STATES.map((state) => [state.toLowerCase(), counts[state]])),
    atLeast: capped.map((state) => state.toLowerCase()),
    oldestPendingAgeSeconds: oldestPendingAgeMs === null ? null : Math.max(0, Math.floor(oldestPendingAgeMs / 1_000)),
  });
}
