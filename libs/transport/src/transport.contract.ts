import { SystemIds } from '@deadman/config';
import type { OutboxEntry, Subscription, Transport } from '@deadman/domain';
import { deferred, eventually, RecordingSink } from '@deadman/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

/** One broker as the contract sees it. */
export interface TransportHarness {
  readonly transport: Transport;
  /** Names of queues that nothing was sent to before: a fresh pair for every call of `open`. */
  readonly queues: readonly [string, string];
  /** Closes what `open` opened. */
  close(): Promise<void>;
}

/**
 * What every transport promises. It may repeat and reorder messages, so no case counts deliveries or relies on order; it
 * may be shared with others, so each case looks only at ids of its own.
 */
export function transportContract(name: string, open: () => Promise<TransportHarness>): void {
  describe(`${name} as a transport`, () => {
    const ids = new SystemIds();
    let harness: TransportHarness;
    let subscriptions: Subscription[];

    beforeEach(async () => {
      harness = await open();
      subscriptions = [];
    });

    afterEach(async () => {
      for (const subscription of subscriptions) await subscription.close();
      await harness.close();
    });

    const ready = (queue: string, jobs: number): OutboxEntry & { kind: 'ready' } => ({
      id: ids.timeOrdered(),
      kind: 'ready',
      queue,
      jobIds: Array.from({ length: jobs }, () => ids.timeOrdered()),
    });

    const dead = (): OutboxEntry & { kind: 'dead' } => ({
      id: ids.timeOrdered(),
      kind: 'dead',
      jobId: ids.timeOrdered(),
      attempt: 3,
    });

    const consume = async (queues: readonly string[], sink: RecordingSink): Promise<Subscription> => {
      const subscription = await harness.transport.consumeReady(queues, sink);
      subscriptions.push(subscription);
      return subscription;
    };

    /** True once all of them reached one of the sinks; throws when that takes too long. */
    const arrived = (jobIds: readonly string[], ...sinks: RecordingSink[]): Promise<true> =>
      eventually(() => {
        const received = new Set(sinks.flatMap((sink) => sink.received));
        const missing = jobIds.filter((jobId) => !received.has(jobId));
        if (missing.length > 0) throw new Error(`${missing.length} of ${jobIds.length} jobs did not arrive`);
        return true;
      });

    it('publish: acknowledges every message it took, tickets and deaths alike', async () => {
      const entries = [ready(harness.queues[0], 1), dead(), ready(harness.queues[1], 3)];
      const acknowledged = await harness.transport.publish(entries);
      expect(new Set(acknowledged)).toEqual(new Set(entries.map(({ id }) => id)));
    });

    it('publish: acknowledges nothing when there is nothing to send', async () => {
      expect(await harness.transport.publish([])).toEqual([]);
    });

    it('tickets: every job of a batch reaches the consumer of its queue', async () => {
      const sink = new RecordingSink();
      await consume([harness.queues[0]], sink);
      const entry = ready(harness.queues[0], 500);
      await harness.transport.publish([entry]);
      expect(await arrived(entry.jobIds, sink)).toBe(true);
    });

    it('tickets: carry the name of their queue', async () => {
      const sink = new RecordingSink();
      await consume(harness.queues, sink);
      const entries = harness.queues.map((queue) => ready(queue, 1));
      await harness.transport.publish(entries);
      expect(
        await arrived(
          entries.flatMap(({ jobIds }) => jobIds),
          sink,
        ),
      ).toBe(true);
      const queueOf = new Map(sink.take().flatMap(({ queue, jobIds }) => jobIds.map((jobId) => [jobId, queue])));
      for (const { queue, jobIds } of entries) expect(queueOf.get(jobIds[0]!)).toBe(queue);
    });

    it('tickets: never reach a consumer of other queues', async () => {
      const mine = new RecordingSink();
      const others = new RecordingSink();
      await consume([harness.queues[0]], mine);
      await consume([harness.queues[1]], others);
      const entry = ready(harness.queues[0], 5);
      const marker = ready(harness.queues[1], 1);
      await harness.transport.publish([entry]);
      await harness.transport.publish([marker]);
      expect(await arrived(entry.jobIds, mine)).toBe(true);
      expect(await arrived(marker.jobIds, others)).toBe(true);
      expect(others.received.filter((id) => entry.jobIds.includes(id))).toEqual([]);
    });

    it('tickets: wait for a consumer that comes later', async () => {
      const entry = ready(harness.queues[0], 20);
      await harness.transport.publish([entry]);
      const sink = new RecordingSink();
      await consume([harness.queues[0]], sink);
      expect(await arrived(entry.jobIds, sink)).toBe(true);
    });

    it('tickets: wait while the sink is full, and all arrive once it has room', async () => {
      const sink = new RecordingSink(2);
      await consume([harness.queues[0]], sink);
      const entries = Array.from({ length: 10 }, () => ready(harness.queues[0], 1));
      await harness.transport.publish(entries);
      const jobIds = entries.flatMap((entry) => entry.jobIds);
      await eventually(() => {
        sink.finish();
        expect(sink.received).toEqual(expect.arrayContaining(jobIds));
      });
    });

    it('tickets: two consumers of one queue get all of them between them', async () => {
      const sinks = [new RecordingSink(), new RecordingSink()];
      for (const sink of sinks) await consume([harness.queues[0]], sink);
      const entries = Array.from({ length: 50 }, () => ready(harness.queues[0], 2));
      await harness.transport.publish(entries);
      expect(
        await arrived(
          entries.flatMap(({ jobIds }) => jobIds),
          ...sinks,
        ),
      ).toBe(true);
    });

    it('tickets: what a consumer leaves undone reaches the next one', async () => {
      const first = new RecordingSink();
      const leaving = await consume([harness.queues[0]], first);
      const entry = ready(harness.queues[0], 10);
      await harness.transport.publish([entry]);
      expect(await arrived(entry.jobIds, first)).toBe(true);
      const [doneId, ...undone] = entry.jobIds;
      for (const ticket of first.take()) ticket.done(doneId!);
      await leaving.close();

      const second = new RecordingSink();
      await consume([harness.queues[0]], second);
      expect(await arrived(undone, second)).toBe(true);
    });

    it('tickets: what a consumer had just claimed, and left undone, reaches the next one, too', async () => {
      const first = new RecordingSink();
      const leaving = await consume([harness.queues[0]], first);
      const entry = ready(harness.queues[0], 10);
      await harness.transport.publish([entry]);
      expect(await arrived(entry.jobIds, first)).toBe(true);
      for (const ticket of first.take()) for (const jobId of ticket.jobIds.slice(1)) ticket.claimed(jobId);
      await leaving.close();

      const second = new RecordingSink();
      await consume([harness.queues[0]], second);
      expect(await arrived(entry.jobIds, second)).toBe(true);
    });

    it('tickets: `claimed` and `done` may be called twice, late, and for jobs the ticket does not name', async () => {
      const sink = new RecordingSink();
      const subscription = await consume([harness.queues[0]], sink);
      const entry = ready(harness.queues[0], 2);
      await harness.transport.publish([entry]);
      expect(await arrived(entry.jobIds, sink)).toBe(true);
      const tickets = sink.take();
      const finish = (): void => {
        for (const ticket of tickets)
          for (const id of [...ticket.jobIds, ...ticket.jobIds, ids.random()]) {
            ticket.claimed(id);
            ticket.done(id);
          }
      };
      expect(finish).not.toThrow();
      await subscription.close();
      expect(finish).not.toThrow();
    });

    it('tickets: none arrive after a subscription has closed, however often it is closed', async () => {
      const sink = new RecordingSink();
      const subscription = await consume([harness.queues[0]], sink);
      await Promise.all([subscription.close(), subscription.close()]);
      const entry = ready(harness.queues[0], 3);
      await harness.transport.publish([entry]);
      const next = new RecordingSink();
      await consume([harness.queues[0]], next);
      expect(await arrived(entry.jobIds, next)).toBe(true);
      expect(sink.received).toEqual([]);
    });

    it('tickets: a paused subscription gets nothing more, and what it has is not given to others until it closes', async () => {
      const sink = new RecordingSink();
      const subscription = await consume([harness.queues[0]], sink);
      const before = ready(harness.queues[0], 5);
      await harness.transport.publish([before]);
      expect(await arrived(before.jobIds, sink)).toBe(true);
      await Promise.all([subscription.pause(), subscription.pause()]);
      const after = ready(harness.queues[0], 5);
      await harness.transport.publish([after]);
      sink.finish();
      await subscription.close();

      const next = new RecordingSink();
      await consume([harness.queues[0]], next);
      expect(await arrived(after.jobIds, next)).toBe(true);
      expect(sink.received.filter((jobId) => after.jobIds.includes(jobId))).toEqual([]);
      expect(next.received.filter((jobId) => before.jobIds.includes(jobId))).toEqual([]);
    });

    it('tickets: a subscription closes although its sink stays full', async () => {
      const sink = new RecordingSink(1);
      const subscription = await consume([harness.queues[0]], sink);
      await harness.transport.publish([ready(harness.queues[0], 1), ready(harness.queues[0], 1)]);
      await eventually(() => expect(sink.received.length).toBeGreaterThan(0));
      await subscription.close();
    });

    it('deaths: reach the handler with their attempt', async () => {
      const seen: { jobId: string; attempt: number }[] = [];
      subscriptions.push(await harness.transport.consumeDead(async (deaths) => void seen.push(...deaths)));
      const entries = [dead(), dead(), dead()];
      await harness.transport.publish(entries);
      const wanted = entries.map(({ jobId, attempt }) => ({ jobId, attempt }));
      await eventually(() => expect(seen).toEqual(expect.arrayContaining(wanted)));
    });

    it('deaths: come again until the handler accepts them, and hold up none that follow for good', async () => {
      const accepted: string[] = [];
      const entries = [dead(), dead()];
      let refusals = 0;
      const handler = async (deaths: readonly { readonly jobId: string }[]): Promise<void> => {
        const isMine = deaths.some(({ jobId }) => entries.some((entry) => entry.jobId === jobId));
        if (isMine && refusals < 3) {
          refusals += 1;
          throw new Error('the database is away');
        }
        accepted.push(...deaths.map(({ jobId }) => jobId));
      };
      subscriptions.push(await harness.transport.consumeDead(handler));
      for (const entry of entries) await harness.transport.publish([entry]);
      await eventually(() => expect(accepted).toEqual(expect.arrayContaining(entries.map(({ jobId }) => jobId))));
      expect(refusals).toBe(3);
    });

    it('deaths: closing waits for the batch under way', async () => {
      const entered = deferred();
      const release = deferred();
      let isHandled = false;
      const subscription = await harness.transport.consumeDead(async () => {
        entered.resolve();
        await release.promise;
        isHandled = true;
      });
      subscriptions.push(subscription);
      await harness.transport.publish([dead()]);
      await entered.promise;
      const closed = subscription.close();
      release.resolve();
      await closed;
      expect(isHandled).toBe(true);
    });

    it('deaths: pausing waits for the batch under way, and none comes after it', async () => {
      const entered = deferred();
      const release = deferred();
      let batches = 0;
      const subscription = await harness.transport.consumeDead(async () => {
        batches += 1;
        entered.resolve();
        await release.promise;
      });
      subscriptions.push(subscription);
      await harness.transport.publish([dead()]);
      await entered.promise;
      const paused = subscription.pause();
      release.resolve();
      await paused;
      const late = dead();
      await harness.transport.publish([late]);
      await subscription.close();
      expect(batches).toBe(1);

      const seen: string[] = [];
      subscriptions.push(
        await harness.transport.consumeDead(async (deaths) => void seen.push(...deaths.map(({ jobId }) => jobId))),
      );
      await eventually(() => expect(seen).toContain(late.jobId));
    });

    it('deaths: what was never accepted reaches the next consumer', async () => {
      const refused = deferred();
      const first = await harness.transport.consumeDead(async () => {
        refused.resolve();
        throw new Error('not now');
      });
      subscriptions.push(first);
      const entry = dead();
      await harness.transport.publish([entry]);
      await refused.promise;
      await first.close();

      const seen: string[] = [];
      subscriptions.push(
        await harness.transport.consumeDead(async (deaths) => void seen.push(...deaths.map(({ jobId }) => jobId))),
      );
      await eventually(() => expect(seen).toContain(entry.jobId));
    });
  });
}
