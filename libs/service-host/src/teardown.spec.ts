import { describe, expect, it } from '@jest/globals';
import { Teardown } from './teardown.js';

describe('Teardown', () => {
  it('closes in the reverse order of opening, one after the other, and each once', async () => {
    const closed: string[] = [];
    const teardown = new Teardown(() => undefined);
    for (const name of ['first', 'second', 'third']) teardown.add(name, async () => void closed.push(name));
    await teardown.run();
    await teardown.run();
    expect(closed).toEqual(['third', 'second', 'first']);
  });

  it('tells of a step that fails and goes on with the others', async () => {
    const told: unknown[] = [];
    let isClosed = false;
    const teardown = new Teardown((name, error) => told.push([name, (error as Error).message]));
    teardown.add('database', async () => void (isClosed = true));
    teardown.add('pool', () => Promise.reject(new Error('gone')));
    await teardown.run();
    expect(told).toEqual([['pool', 'gone']]);
    expect(isClosed).toBe(true);
  });
});
