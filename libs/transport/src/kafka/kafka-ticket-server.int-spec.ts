import 'reflect-metadata';
import { SystemClock, SystemIds, SystemRandom } from '@deadman/config';
import type { DeathNotice, OutboxEntry, Ticket } from '@deadman/domain';
import { eventually, RecordingEvents, RecordingSink } from '@deadman/testing';
import { Controller, Module } from '@nestjs/common';
import type { DynamicModule, INestMicroservice, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { of, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { Bystander, freshPrefix, ObservedTransport, readyOn, send, sharedBrokers } from './kafka-harness.contract.js';
import { KAFKA_TICKETS, KafkaTicketContext, KafkaTicketServer, TicketsRefused } from './kafka-ticket-server.js';
import type { KafkaTransportEvent } from './kafka-transport-listener.js';
import { ServedTransport } from './served-transport.js';
import { TopicNames } from './topic-names.js';

jest.setTimeout(90_000);

@Module({})
class TestModule {}

/** What the controllers of a case do with a batch. */
type TakeTickets = (tickets: readonly Ticket[], topic: string) => unknown;
type TakeDeaths = (deaths: readonly DeathNotice[]) => unknown;

function controllers(take: TakeTickets, takeDeaths: TakeDeaths = () => undefined): Type {
  @Controller()
  class TicketsController {
    @EventPattern(['jobs.ready', 'jobs.ready.mail'], KAFKA_TICKETS)
    onTickets(@Payload() tickets: readonly Ticket[], @Ctx() context: KafkaTicketContext): unknown {
      return take(tickets, context.topic);
    }

    @EventPattern('jobs.dead', KAFKA_TICKETS)
    onDeaths(@Payload() deaths: readonly DeathNotice[]): unknown {
      return takeDeaths(deaths);
    }

    /** Of another transport, as an app has that serves several. */
    @EventPattern('something.else', Symbol('other'))
    onOther(@Payload() data: unknown): void {
      throw new Error(`Not ours: ${String(data)}`);
    }
  }
  return TicketsController;
}

describe('KafkaTicketServer in a Nest microservice', () => {
  const TOPICS = ['jobs.ready', 'jobs.ready.mail', 'jobs.dead'];
  const ids = new SystemIds();
  let brokers: readonly string[];
  let bystander: Bystander;
  let topicPrefix: string;
  let sender: ObservedTransport;
  let seen: KafkaTransportEvent[];
  let apps: INestMicroservice[];

  beforeAll(async () => {
    brokers = await sharedBrokers();
    bystander = await new Bystander(brokers).connect();
  });

  afterAll(() => bystander.disconnect());

  beforeEach(async () => {
    topicPrefix = freshPrefix();
    sender = new ObservedTransport({ connection: { brokers, clientId: 'sender' }, topicPrefix });
    await sender.ensureTopics(['default', 'mail']);
    seen = [];
    apps = [];
  });

  afterEach(async () => {
    await Promise.all(apps.map((app) => app.close()));
    await sender.close();
  });

  const createServer = (topics: readonly string[] = TOPICS): KafkaTicketServer =>
    new KafkaTicketServer(
      {
        clock: new SystemClock(),
        random: new SystemRandom(),
        events: new RecordingEvents(),
        listener: { on: (event) => void seen.push(event) },
      },
      { connection: { brokers, clientId: 'server' }, topicPrefix, topics },
    );

  const start = async (controller: Type, strategy = createServer()): Promise<INestMicroservice> => {
    const module: DynamicModule = { module: TestModule, controllers: [controller] };
    const app = await NestFactory.createMicroservice(module, { strategy, logger: false });
    apps.push(app);
    await app.listen();
    return app;
  };

  const committed = async (queue: string): Promise<number> => {
    const offsets = await bystander.committed(new TopicNames(topicPrefix).ready(queue));
    return [...offsets.values()].reduce((sum, offset) => sum + Math.max(offset, 0), 0);
  };

  const dead = (): OutboxEntry & { kind: 'dead' } => ({
    id: ids.timeOrdered(),
    kind: 'dead',
    jobId: ids.timeOrdered(),
    attempt: 2,
  });

  it('hands batches of tickets to the handler of their topic; `done` commits, not the return', async () => {
    const taken: { topic: string; ticket: Ticket }[] = [];
    await start(controllers((tickets, topic) => void taken.push(...tickets.map((ticket) => ({ topic, ticket })))));
    const entries = [readyOn([1, 2, 3]), readyOn([4], 'mail')];
    await send(sender, ...entries);
    await eventually(() => expect(new Set(taken.flatMap(({ ticket }) => ticket.jobIds)).size).toBe(4));
    for (const { topic, ticket } of taken) {
      expect([topic, ticket.queue]).toEqual(
        ticket.jobIds[0] === entries[1]!.jobIds[0] ? ['jobs.ready.mail', 'mail'] : ['jobs.ready', 'default'],
      );
    }
    for (const { ticket } of taken.filter(({ topic }) => topic === 'jobs.ready')) ticket.done(ticket.jobIds[0]!);
    await eventually(async () => expect(await committed('default')).toBe(3));
    expect(await committed('mail')).toBe(0);
  });

  it('hands deaths to their handler, and again what it rejected', async () => {
    const tries: string[][] = [];
    const takeDeaths = async (deaths: readonly DeathNotice[]): Promise<void> => {
      tries.push(deaths.map(({ jobId, attempt }) => `${jobId} ${attempt}`));
      if (tries.length < 3) throw new Error('the database is away');
    };
    await start(controllers(() => undefined, takeDeaths));
    const entry = dead();
    await send(sender, entry);
    await eventually(() => expect(tries.length).toBeGreaterThanOrEqual(3));
    expect(new Set(tries.flat())).toEqual(new Set([`${entry.jobId} 2`]));
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      (): never => {
        throw new Error('no');
      },
    ],
    ['rejects', (): Promise<never> => Promise.reject(new Error('no'))],
    ['fails with its Observable', (): Observable<never> => throwError(() => new Error('no'))],
  ])('a handler that %s is no commit: the tickets come again until it succeeds', async (_how, fail) => {
    const tickets: Ticket[] = [];
    let [tries, isOver] = [0, false];
    const take: TakeTickets = (batch) => {
      for (const ticket of batch) for (const jobId of ticket.jobIds) ticket.done(jobId);
      tries += 1;
      if (!isOver) return fail();
      tickets.push(...batch);
      return of('taken');
    };
    await start(controllers(take));
    const entry = readyOn([5]);
    await send(sender, entry);
    await eventually(() => expect(tries).toBeGreaterThanOrEqual(3), { withinMs: 30_000 });
    expect(await committed('default')).toBe(0);
    isOver = true;
    await eventually(() => expect(new Set(tickets.flatMap(({ jobIds }) => jobIds))).toEqual(new Set(entry.jobIds)));
    await eventually(async () => expect(await committed('default')).toBe(1));
    expect(seen.filter(({ kind }) => kind === 'delivery-refused').length).toBeGreaterThanOrEqual(3);
  });

  it('waits for room when a handler says that there is none', async () => {
    const sink = new RecordingSink(1);
    const take: TakeTickets = (tickets) => {
      if (!sink.offer(tickets)) throw new TicketsRefused(() => sink.whenRoom());
    };
    await start(controllers(take));
    const entries = [readyOn([1]), readyOn([2]), readyOn([3])];
    await send(sender, ...entries);
    await eventually(() => {
      sink.finish();
      expect(sink.received).toEqual(expect.arrayContaining(entries.flatMap(({ jobIds }) => jobIds)));
    });
    expect(seen.filter(({ kind }) => kind === 'delivery-refused')).toEqual([]);
  });

  it('fails at the start for a topic that has no handler, and for a handler whose topic nobody consumes', async () => {
    const controller = controllers(() => undefined);
    await expect(start(controller, createServer([...TOPICS, 'jobs.ready.bulk']))).rejects.toThrow(
      'No handler for the topic jobs.ready.bulk',
    );
    await expect(start(controller, createServer(['jobs.ready', 'jobs.dead']))).rejects.toThrow(
      'A handler waits for a topic that is not consumed: jobs.ready.mail',
    );
    expect(seen).toEqual([]);
  });

  it('feeds an engine that asks its transport, whichever of both starts first, and ends with it', async () => {
    const server = createServer();
    const served = new ServedTransport(sender, server);
    await start(
      controllers(
        (tickets) => served.takeTickets(tickets),
        (deaths) => served.takeDeaths(deaths),
      ),
      server,
    );
    const early = [readyOn([1, 2]), dead()];
    await send(served, ...early);
    const sink = new RecordingSink();
    const deaths: string[] = [];
    const subscription = await served.consumeReady(['default'], sink);
    await served.consumeDead(async (notices) => void deaths.push(...notices.map(({ jobId }) => jobId)));
    await eventually(() => expect(new Set(sink.received)).toEqual(new Set(early.flatMap((entry) => jobsOf(entry)))));
    await eventually(() => expect(new Set(deaths).size).toBe(1));

    await subscription.pause();
    const late = readyOn([3]);
    await send(served, late);
    sink.finish();
    await subscription.close();
    expect(await committed('default')).toBe(2);
    expect(sink.received).not.toContain(late.jobIds[0]);
    expect(server.consumers.map(({ state }) => state)).toEqual(['closed', 'closed', 'closed']);
  });
});

function jobsOf(entry: OutboxEntry): readonly string[] {
  return entry.kind === 'ready' ? entry.jobIds : [];
}
