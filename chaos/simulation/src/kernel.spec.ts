import { describe, expect, it } from '@jest/globals';
import { Dice } from './dice.js';
import { Kernel, Livelock } from './kernel.js';
import { Process } from './process.js';

function aProcess(kernel: Kernel, seed = 1): Process {
  return new Process('worker-0', 'worker-0.1', kernel, new Dice(seed));
}

describe('Kernel', () => {
  it('runs events in order of their time, and of one time in order of their making', async () => {
    const kernel = new Kernel();
    const ran: string[] = [];
    kernel.after(5, () => ran.push('late'));
    kernel.after(1, () => ran.push('first'));
    kernel.after(1, () => ran.push('second'));
    await kernel.run(10);
    expect(ran).toEqual(['first', 'second', 'late']);
    expect(kernel.nowMs).toBe(10);
  });

  it('lets every promise run on before the next event', async () => {
    const kernel = new Kernel();
    const ran: string[] = [];
    const chain = async (): Promise<void> => {
      for (let link = 0; link < 100; link += 1) await Promise.resolve();
      ran.push('chain');
    };
    kernel.after(1, () => void chain());
    kernel.after(1, () => ran.push('next'));
    await kernel.run(2);
    expect(ran).toEqual(['chain', 'next']);
  });

  it('tells when something turns on the spot', async () => {
    const kernel = new Kernel();
    const spin = (): void => void kernel.after(0, spin);
    kernel.after(1, spin);
    await expect(kernel.run(2)).rejects.toBeInstanceOf(Livelock);
  });

  it('tells when something turns nearly on the spot', async () => {
    const kernel = new Kernel();
    const spin = (): void => void kernel.after(0.5, spin);
    kernel.after(1, spin);
    await expect(kernel.run(60_000)).rejects.toBeInstanceOf(Livelock);
  });

  it('forgets what was taken back', async () => {
    const kernel = new Kernel();
    let ran = 0;
    kernel.after(1, () => (ran += 1))();
    await kernel.run(2);
    expect(ran).toBe(0);
  });
});

describe('Process', () => {
  it('does nothing once it was killed, and its threads neither', async () => {
    const kernel = new Kernel();
    const process = aProcess(kernel);
    const thread = process.startThread('heart');
    let ran = 0;
    for (const owner of [process, process.inbox, thread]) kernel.after(5, () => (ran += 1), owner);
    kernel.after(1, () => thread.kill());
    await kernel.run(10);
    expect(ran).toBe(0);
    expect(process.isAlive).toBe(false);
  });

  it('does while it thaws what came while it stood still, in order, timers and messages each', async () => {
    const kernel = new Kernel();
    const process = aProcess(kernel);
    const ran: string[] = [];
    kernel.after(1, () => process.freeze());
    for (const name of ['one', 'two']) {
      kernel.after(2, () => ran.push(`timer ${name}`), process);
      kernel.after(2, () => ran.push(`message ${name}`), process.inbox);
    }
    await kernel.run(5);
    expect(ran).toEqual([]);
    process.thaw();
    await kernel.run(6);
    expect(ran.filter((what) => what.startsWith('timer'))).toEqual(['timer one', 'timer two']);
    expect(ran.filter((what) => what.startsWith('message'))).toEqual(['message one', 'message two']);
    expect(process.standsSinceMs).toBe(5);
  });

  it('has a thread that goes on while only the main one is blocked', async () => {
    const kernel = new Kernel();
    const process = aProcess(kernel);
    const thread = process.startThread('heart');
    const ran: string[] = [];
    process.block();
    kernel.after(1, () => ran.push('main'), process);
    kernel.after(1, () => ran.push('heart'), thread);
    await kernel.run(2);
    expect(ran).toEqual(['heart']);
    expect({ isWell: process.isWell, canSpeak: process.canSpeak }).toEqual({ isWell: false, canSpeak: true });
    process.freeze();
    expect(process.canSpeak).toBe(false);
  });
});
