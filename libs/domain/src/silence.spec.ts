import { describe, expect, it } from '@jest/globals';
import { Silence } from './silence.js';

describe('Silence', () => {
  it('grows from look to look, until it is broken', () => {
    const silence = new Silence(0, 100);
    expect([silence.look(100), silence.look(250)]).toEqual([100, 250]);
    silence.broken();
    expect(silence.look(300)).toBe(50);
  });

  it('is not made of the time in which the listener did not look', () => {
    const silence = new Silence(0, 100);
    silence.look(100);
    expect(silence.look(60_000)).toBe(300);
  });
});
