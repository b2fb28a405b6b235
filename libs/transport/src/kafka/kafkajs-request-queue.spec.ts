import { describe, expect, it } from '@jest/globals';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import './kafkajs-request-queue.js';

describe('the request queue of kafkajs', () => {
  const createQueue = (): RequestQueue =>
    new RequestQueue({
      requestTimeout: 1_000,
      enforceRequestTimeout: false,
      clientId: 'x',
      broker: 'x',
      logger: { namespace: () => ({}) },
    });

  it('sets no timer while nothing waits', () => {
    const queue = createQueue();
    queue.scheduleCheckPendingRequests();
    expect(queue.throttleCheckTimeoutId).toBeNull();
  });

  it('sets its timer while a request waits', () => {
    const queue = createQueue();
    queue.pending.push({});
    queue.scheduleCheckPendingRequests();
    expect(queue.throttleCheckTimeoutId).not.toBeNull();
    queue.destroy();
  });
});
