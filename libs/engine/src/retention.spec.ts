import type { JobStore, PurgeRequest } from '@deadman/domain';
import { RecordingEvents } from '@deadman/testing';
import { describe, expect, it } from '@jest/globals';
import { Retention } from './retention.js';

type Purged = Awaited<ReturnType<JobStore['purge']>>;

const NOTHING: Purged = { jobs: 0, keys: 0, workers: 0 };

function retentionOver(answers: readonly Partial<Purged>[]): {
  readonly retention: Retention;
  readonly requests: PurgeRequest[];
  readonly events: RecordingEvents;
} {
  const requests: PurgeRequest[] = [];
  const events = new RecordingEvents();
  const purge = async (request: PurgeRequest): Promise<Purged> => {
    requests.push(request);
    return { ...NOTHING, ...answers[requests.length - 1] };
  };
  return { retention: new Retention({ store: { purge } as JobStore, events }, { limit: 10 }), requests, events };
}

describe('Retention', () => {
  it('deletes one bounded batch a turn, by the ages of the protocol', async () => {
    const { retention, requests } = retentionOver([{}]);
    await retention.turn();
    const day = 86_400_000;
    const ages = { finishedKeptMs: 7 * day, deadKeptMs: 90 * day, keyKeptMs: 7 * day, workerKeptMs: day };
    expect(requests).toEqual([{ ...ages, limit: 10 }]);
  });

  it.each(['jobs', 'keys', 'workers'] as const)('turns again at once while the batch of %s is full', async (what) => {
    const { retention } = retentionOver([{ [what]: 10 }, { [what]: 9 }]);
    expect([await retention.turn(), await retention.turn()]).toEqual(['again', undefined]);
  });

  it('tells how many jobs went, and nothing when none did', async () => {
    const { retention, events } = retentionOver([{ jobs: 3 }, { keys: 3 }]);
    await retention.turn();
    await retention.turn();
    expect(events.all).toEqual([{ kind: 'jobs-purged', jobs: 3 }]);
  });
});
