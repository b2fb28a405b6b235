import { defineSlice } from '../define-config.js';
import type { Relation } from '../define-config.js';
import { list } from '../variable.js';

/** How a queue may be called; topics of a broker are named after them. */
export const QUEUE_NAME = /^[a-z0-9]+([._-][a-z0-9]+)*$/;

const NAMES = {
  pattern: QUEUE_NAME,
  allowed: 'names of lower-case letters and digits, single . _ or - between them, several between commas',
} as const;

export const queuesSlice = defineSlice('Queues', {
  queues: list({
    name: 'DEADMAN_QUEUES',
    what: 'For the api: the queues that exist. For a worker: those it serves.',
    default: ['default'],
    ...NAMES,
  }),
});

/** For a process that takes jobs in and runs them: it may run those of some queues only. */
export const servedQueuesSlice = defineSlice('Served queues', {
  queues: list({
    name: 'DEADMAN_SERVED_QUEUES',
    what: 'For standalone: the queues whose jobs it runs itself, when they are not all. Jobs of the others are taken in and wait for a process that serves them.',
    default: null,
    ...NAMES,
  }),
});

export const SERVED_QUEUES_EXIST: Relation<{
  readonly queues: { readonly queues: readonly string[] };
  readonly served: { readonly queues: readonly string[] | null };
}> = {
  variables: ['DEADMAN_QUEUES', 'DEADMAN_SERVED_QUEUES'],
  holds: ({ queues, served }) => (served.queues ?? []).every((name) => queues.queues.includes(name)),
  rule: 'every queue that is served has to be one of those that exist',
};
