import { EngineEvents } from '@deadman/domain';
import type { EngineEvent } from '@deadman/domain';
import { RecordingEvents } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { FanOut, fanOut } from './fan-out.js';

const EVENT: EngineEvent = { kind: 'drain-for-quarantine' };

class Broken extends EngineEvents {
  override emit(): void {
    throw new Error('the disk is full');
  }
}

describe('fanOut', () => {
  it('passes each event to every listener', () => {
    const listeners = [new RecordingEvents(), new RecordingEvents()];
    fanOut(...listeners).emit(EVENT);
    expect(listeners.map((listener) => listener.all)).toEqual([[EVENT], [EVENT]]);
  });

  it('a listener that throws stops neither the engine nor the others, and is told of once', () => {
    const warnings: string[] = [];
    const last = new RecordingEvents();
    const events = new FanOut([new Broken(), last], (message) => void warnings.push(message));
    events.emit(EVENT);
    events.emit(EVENT);
    expect(last.all).toHaveLength(2);
    expect(warnings).toEqual(['Broken failed on the event drain-for-quarantine: Error: the disk is full']);
  });
});
