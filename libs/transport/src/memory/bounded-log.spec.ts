import { describe, expect, it } from '@jest/globals';
import { BoundedLog } from './bounded-log.js';

describe('BoundedLog', () => {
  it('keeps order through thousands of appends and takes', () => {
    const log = new BoundedLog<number>(5_000);
    const taken: number[] = [];
    for (let item = 0; item < 20_000; item += 1) {
      expect(log.tryAppend(item)).toBe(true);
      if (item % 3 === 2) taken.push(...log.take(3));
    }
    taken.push(...log.take(10));
    expect(taken).toEqual(Array.from({ length: 20_000 }, (_, index) => index));
    expect(log.size).toBe(0);
  });

  it('refuses, or lets the oldest go, when it is full', () => {
    const log = new BoundedLog<string>(2);
    for (const item of ['a', 'b']) log.tryAppend(item);
    expect(log.tryAppend('c')).toBe(false);
    expect(log.appendOverOldest('c')).toBe('a');
    expect(log.take(5)).toEqual(['b', 'c']);
  });

  it('puts back to the front, and lets the oldest go when that is too much', () => {
    const log = new BoundedLog<string>(3);
    for (const item of ['a', 'b', 'c']) log.tryAppend(item);
    const returned = log.take(2);
    log.tryAppend('d');
    log.putBack(returned);
    expect(log.take(5)).toEqual(['b', 'c', 'd']);
  });
});
