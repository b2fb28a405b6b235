import { describe, expect, it } from '@jest/globals';
import { TopicNames } from './topic-names.js';

describe('TopicNames', () => {
  it.each([
    ['', 'jobs.ready', 'jobs.ready.mail', 'jobs.dead'],
    ['blue.', 'blue.jobs.ready', 'blue.jobs.ready.mail', 'blue.jobs.dead'],
  ])('with the prefix "%s": one topic per queue, and one for deaths', (prefix, ready, mail, dead) => {
    const names = new TopicNames(prefix);
    expect([names.ready('default'), names.ready('mail'), names.dead]).toEqual([ready, mail, dead]);
  });

  it('tell the queue of a topic, and of a stranger none', () => {
    const names = new TopicNames('blue.');
    for (const queue of ['default', 'mail', 'mail.eu-1']) expect(names.queueOf(names.ready(queue))).toBe(queue);
    for (const topic of [names.dead, 'jobs.ready', 'blue.jobs.readymail', '']) expect(names.queueOf(topic)).toBeNull();
  });
});
