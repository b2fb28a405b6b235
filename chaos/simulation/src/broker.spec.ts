import { DEFAULT_QUEUE } from './deployment.js';
import { describe, expect, it } from '@jest/globals';
import type { DeathNotice, Ticket } from '@deadman/domain';
import { Broker } from './broker.js';
import { Dice } from './dice.js';
import { CALM } from './fault-plan.js';
import { Kernel } from './kernel.js';
import { Network } from './network.js';
import { Process } from './process.js';
import { Situations } from './situations.js';

const QUIET = { onFate: () => {}, onUnheard: () => {}, onBug: () => {} };

function aBroker() {
  const kernel = new Kernel();
  const situations = new Situations();
  const network = new Network(kernel, CALM, QUIET, situations);
  const broker = new Broker({ kernel, network, situations, queues: [DEFAULT_QUEUE], offsetHoldMs: 60_000 });
  const aProcess = (name: string) => new Process(name, name, kernel, new Dice(1));
  const aMember = (name: string) => {
    const tickets: Ticket[] = [];
    const offer = (offered: readonly Ticket[]): boolean => tickets.push(...offered) > 0;
    const subscription = broker.join(aProcess(name), [DEFAULT_QUEUE], { offer, whenRoom: async () => {} });
    return { tickets, subscription };
  };
  return { kernel, situations, broker, aProcess, aMember };
}

const ready = (jobId: string) => ({ id: jobId, kind: 'ready', queue: DEFAULT_QUEUE, jobIds: [jobId] }) as const;
const dead = (jobId: string) => ({ id: jobId, kind: 'dead', jobId, attempt: 1 }) as const;
const idsOf = (tickets: readonly Ticket[]) => tickets.flatMap(({ jobIds }) => jobIds);

describe('the simulated broker', () => {
  it('tells again after a rebalance what was not done, and what was done no more', async () => {
    const { kernel, broker, aMember } = aBroker();
    const { tickets } = aMember('one');
    for (const id of ['job-00000001', 'job-00000002']) broker.append(ready(id));
    await kernel.run(2_000);
    const told = idsOf(tickets);
    tickets[0]!.done(told[0]!);
    await kernel.run(4_000);
    broker.rebalance(true);
    await kernel.run(6_000);
    expect(idsOf(tickets).slice(2)).toEqual([told[1]]);
  });

  it('moves partitions between two members that stay', async () => {
    const { kernel, broker, situations, aMember } = aBroker();
    aMember('one');
    aMember('other');
    await kernel.run(2_000);
    broker.rebalance(true);
    await kernel.run(4_000);
    expect(situations.of('rebalance: a partition moved')).toBe(4);
  });

  it('forgets in a wipe its messages, its deaths and its group, and says how much that was', async () => {
    const { kernel, broker, situations, aProcess, aMember } = aBroker();
    broker.append(ready('job-00000001'));
    broker.append(dead('job-00000002'));
    expect(broker.wipe()).toBe(2);
    const deaths: DeathNotice[] = [];
    broker.record(aProcess('recorder'), async (batch) => void deaths.push(...batch));
    const { tickets } = aMember('one');
    await kernel.run(3_000);
    expect([tickets, deaths]).toEqual([[], []]);
    const rebalances = situations.of('rebalance');
    expect(broker.wipe()).toBe(0);
    await kernel.run(6_000);
    // The member finds out that nobody knows it, and joins again.
    expect(situations.of('rebalance')).toBe(rebalances + 1);
  });
});
