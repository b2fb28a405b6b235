import { DEFAULT_LIMITS } from '@deadman/domain';
import type { ClaimedJob, Clock, JobStore, Transition, WorkerRegistry } from '@deadman/domain';
import { JobCommands, Publisher, Submitter } from '@deadman/engine';
import { SystemIds } from '@deadman/config';
import { aFailure, aSuccess, FixedRandom, RecordingEvents } from '@deadman/testing';
import { MemoryTransport } from '@deadman/transport';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { agent } from 'supertest';
import type { Agent, Response } from 'supertest';
import { ApiModule } from '../api.module.js';
import { createApiApp } from '../create-api-app.js';
import type { ApiAppOptions } from '../create-api-app.js';

export const QUEUES = ['default', 'mail'] as const;

export interface ApiParts {
  readonly store: JobStore;
  readonly registry: WorkerRegistry;
  readonly clock: Clock;
}

/** The api over real HTTP, and what a worker would do behind it. */
export interface ApiUnderTest {
  readonly app: NestFastifyApplication;
  readonly store: JobStore;
  readonly submitter: Submitter;
  readonly port: number;
  readonly http: Agent;
  /** `POST /jobs` with `{"type":"demo.echo"}` and these members; the answer's body. */
  submit(
    members?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Record<string, unknown> & { id: string }>;
  /** Claims the job as a worker would. */
  claim(id: string): Promise<ClaimedJob>;
  succeed(id: string, result?: string): Promise<void>;
  /** Fails the job for good, and records its dead letter; the letter's id. */
  kill(id: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts the api on a free port over these adapters. `close` closes the api, not the adapters. */
export async function startApi(parts: ApiParts, options: ApiAppOptions = {}): Promise<ApiUnderTest> {
  const events = new RecordingEvents();
  const { store, registry, clock } = parts;
  const publisher = new Publisher({ transport: new MemoryTransport(clock), store, clock, events });
  const submitter = new Submitter({ store, publisher, clock, events });
  const commands = new JobCommands({ store, publisher, rules: { limits: DEFAULT_LIMITS, random: new FixedRandom() } });
  const module = ApiModule.forRoot({
    store,
    registry,
    submitter,
    commands,
    ids: new SystemIds(),
    clock,
    queues: QUEUES,
  });
  const app = await createApiApp(module, { logger: false, ...options });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.getHttpServer().address() as AddressInfo;
  const http = agent(`http://127.0.0.1:${port}`);
  return {
    app,
    store,
    submitter,
    port,
    http,
    async submit(members = {}, headers = {}) {
      const answer = await http
        .post('/jobs')
        .set(headers)
        .send({ type: 'demo.echo', ...members });
      if (answer.status !== 201) throw new Error(`POST /jobs answered ${answer.status}: ${answer.text}`);
      return answer.body as Record<string, unknown> & { id: string };
    },
    claim: (id) => claim(store, id),
    async succeed(id, result = '{"ok":true}') {
      await applyOne(store, aSuccess(await claim(store, id), result));
    },
    async kill(id) {
      const job = await claim(store, id);
      await applyOne(store, aFailure(job, { code: 'card-refused' }, false));
      await store.recordDeadLetters([{ jobId: id, attempt: job.attempt }]);
      const { items } = await store.listDeadLetters({ order: 'newest-first', limit: 200 });
      const letter = items.find(({ jobId, attempt }) => jobId === id && attempt === job.attempt);
      if (letter === undefined) throw new Error(`No dead letter of job ${id}`);
      return letter.id;
    },
    async close() {
      await submitter.close();
      await app.close();
    },
  };
}

export async function claim(store: JobStore, id: string): Promise<ClaimedJob> {
  const types = ['demo.echo', 'order.charge'];
  const [job] = await store.claim({ token: randomUUID(), workerId: randomUUID(), types, quarantineFrom: 7, ids: [id] });
  if (job === undefined) throw new Error(`Job ${id} could not be claimed`);
  return job;
}

export async function applyOne(store: JobStore, transition: Transition): Promise<void> {
  const { results } = await store.apply([transition]);
  if (results[0]?.kind !== 'applied') throw new Error(`The transition was answered ${results[0]?.kind}`);
}

/** Sends a body byte for byte. */
export function postText(api: ApiUnderTest, path: string, text: string, headers: object = {}): Promise<Response> {
  return Promise.resolve(
    api.http
      .post(path)
      .set({ 'content-type': 'application/json', ...headers })
      .send(text),
  );
}

/** Codes and places of a problem's errors, as one line each. */
export function errorsOf(answer: Response): readonly string[] {
  const errors = (answer.body as { errors?: Record<string, string>[] }).errors ?? [];
  return errors.map(({ code, pointer, parameter, header }) => `${code} ${pointer ?? parameter ?? header}`);
}
