import { describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { StopSignals } from './stop-signals.js';

describe('StopSignals', () => {
  it('begins the end with the first signal, and hurries with the second, whichever they are', async () => {
    const source = new EventEmitter();
    const signals = new StopSignals(source);
    source.emit('SIGINT');
    expect(await signals.first).toBe('SIGINT');
    expect(signals.hurry.aborted).toBe(false);
    source.emit('SIGTERM');
    expect(signals.hurry.aborted).toBe(true);
  });
});
