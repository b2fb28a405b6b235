import { defineSlice } from '../define-config.js';
import { list } from '../variable.js';

/** How a queue may be called; topics of a broker are named after them. */
export const QUEUE_NAME = /^[a-z0-9]+([._-][a-z0-9]+)*$/;

export const queuesSlice = defineSlice('Queues', {
  queues: list({
    name: 'DEADMAN_QUEUES',
    what: 'For the api: the queues that exist. For a worker: those it serves.',
    default: ['default'],
    pattern: QUEUE_NAME,
    allowed: 'names of lower-case letters and digits, single . _ or - between them, several between commas',
  }),
});
