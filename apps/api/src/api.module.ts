import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { Clock, DEFAULT_MAX_ATTEMPTS, DEFAULT_RETRY, Ids, JobStore, WorkerRegistry } from '@deadman/domain';
import { JobCommands, Submitter } from '@deadman/engine';
import { API_SETTINGS } from './api-settings.js';
import type { ApiSettings } from './api-settings.js';
import { DeadLettersController } from './dead-letters/dead-letters.controller.js';
import { CheckingPipe } from './http/checking.pipe.js';
import { BatchSubmit } from './jobs/batch-submit.js';
import { BatchController } from './jobs/batch.controller.js';
import { JobLists } from './jobs/job-lists.js';
import { JobsController } from './jobs/jobs.controller.js';
import { LiveTypes } from './jobs/live-types.js';
import { SubmissionReader } from './jobs/submission-reader.js';
import type { JobDefaults } from './jobs/submission-reader.js';
import { SubmitAnswers } from './jobs/submit-answers.js';
import { ProblemFilter } from './problems/problem.filter.js';
import { ProblemsController } from './problems/problems.controller.js';
import { QueuesController } from './queues/queues.controller.js';

/** What the api stands on. It opens and closes none of it. */
export interface ApiParts {
  /** For reads alone. Give it one whose statements end after 2 s, so that a slow list is told as `query-too-slow`. */
  readonly store: JobStore;
  readonly registry: WorkerRegistry;
  readonly submitter: Submitter;
  readonly commands: JobCommands;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Names of the declared queues. */
  readonly queues: readonly string[];
  readonly defaults?: Partial<JobDefaults>;
  /** A worker seen within this has its types counted as served. Milliseconds, default 30 000. */
  readonly liveWithinMs?: number;
}

/** `protocol.md` §13. */
const JOB_DEFAULTS: Omit<JobDefaults, 'queue'> = {
  maxAttempts: DEFAULT_MAX_ATTEMPTS,
  retry: DEFAULT_RETRY,
  timeoutMs: 900_000,
};

/** The REST API: controllers over the engine's submit and commands and the store's reads. */
@Module({})
export class ApiModule implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(@Inject(LiveTypes) private readonly liveTypes: LiveTypes) {}

  static forRoot(parts: ApiParts): DynamicModule {
    const settings = settingsOf(parts);
    return {
      module: ApiModule,
      controllers: [BatchController, JobsController, QueuesController, DeadLettersController, ProblemsController],
      providers: [
        { provide: JobStore, useValue: parts.store },
        { provide: WorkerRegistry, useValue: parts.registry },
        { provide: Submitter, useValue: parts.submitter },
        { provide: JobCommands, useValue: parts.commands },
        { provide: Ids, useValue: parts.ids },
        { provide: Clock, useValue: parts.clock },
        { provide: API_SETTINGS, useValue: settings },
        { provide: APP_PIPE, useClass: CheckingPipe },
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: LiveTypes, useValue: liveTypesOf(parts) },
        {
          provide: SubmissionReader,
          useValue: new SubmissionReader({ ids: parts.ids, clock: parts.clock, ...settings }),
        },
        { provide: JobLists, useValue: new JobLists(parts.store) },
        {
          provide: SubmitAnswers,
          useFactory: (store: JobStore, liveTypes: LiveTypes) => new SubmitAnswers(store, liveTypes),
          inject: [JobStore, LiveTypes],
        },
        {
          provide: BatchSubmit,
          useFactory: (submitter: Submitter, answers: SubmitAnswers) => new BatchSubmit(submitter, answers),
          inject: [Submitter, SubmitAnswers],
        },
      ],
    };
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.liveTypes.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.liveTypes.stop();
  }
}

/** A deployment that names its queues need not have one called default: then the first of them is meant. */
function settingsOf({ queues, defaults }: ApiParts): ApiSettings {
  const queue = defaults?.queue ?? (queues.includes('default') ? 'default' : queues[0]);
  if (queue === undefined || !queues.includes(queue)) {
    throw new TypeError(`The default queue ${queue} is not among the declared queues`);
  }
  return { queues, defaults: { ...JOB_DEFAULTS, ...defaults, queue } };
}

function liveTypesOf({ registry, clock, liveWithinMs }: ApiParts): LiveTypes {
  return new LiveTypes(registry, clock, liveWithinMs === undefined ? {} : { liveWithinMs });
}
