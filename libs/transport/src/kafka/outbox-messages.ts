import type { OutboxEntry } from '@deadman/domain';
import type { Message } from 'kafkajs';
import { byPartition, partitionOf } from './partitioner.js';
import { encodeDeath, encodeTicket } from './ticket-codec.js';
import type { TopicNames } from './topic-names.js';

/** Ids in one ticket. A micro-batch of 500 jobs leaves 42 for each of a dozen partitions. */
const IDS_PER_TICKET = 100;

export function topicOf(entry: OutboxEntry, names: TopicNames): string {
  return entry.kind === 'ready' ? names.ready(entry.queue) : names.dead;
}

/** How much an entry weighs when a send is filled. */
export function weightOf(entry: OutboxEntry): number {
  return entry.kind === 'ready' ? entry.jobIds.length : 1;
}

/**
 * The messages of outbox rows by topic. Rows of one queue share tickets, each of one partition; its key is its first id,
 * so that a tool that reads the topic shows something, and decides nothing.
 */
export function toMessages(
  entries: readonly OutboxEntry[],
  names: TopicNames,
  partitions: number,
): ReadonlyMap<string, Message[]> {
  const messages = new Map<string, Message[]>();
  for (const [topic, jobIds] of readyJobs(entries, names)) messages.set(topic, tickets(jobIds, partitions));
  const deaths = entries.filter((entry) => entry.kind === 'dead');
  if (deaths.length > 0)
    messages.set(
      names.dead,
      deaths.map((death) => toDeath(death, partitions)),
    );
  return messages;
}

function readyJobs(entries: readonly OutboxEntry[], names: TopicNames): ReadonlyMap<string, Set<string>> {
  const jobs = new Map<string, Set<string>>();
  for (const entry of entries) {
    if (entry.kind !== 'ready' || entry.jobIds.length === 0) continue;
    const topic = names.ready(entry.queue);
    const known = jobs.get(topic);
    if (known === undefined) jobs.set(topic, new Set(entry.jobIds));
    else for (const jobId of entry.jobIds) known.add(jobId);
  }
  return jobs;
}

function tickets(jobIds: Iterable<string>, partitions: number): Message[] {
  const messages: Message[] = [];
  for (const [partition, group] of byPartition(jobIds, partitions)) {
    for (let from = 0; from < group.length; from += IDS_PER_TICKET) {
      const ids = group.slice(from, from + IDS_PER_TICKET);
      messages.push({ partition, key: ids[0]!, value: encodeTicket(ids) });
    }
  }
  return messages;
}

function toDeath(death: { readonly jobId: string; readonly attempt: number }, partitions: number): Message {
  return { partition: partitionOf(death.jobId, partitions), key: death.jobId, value: encodeDeath(death) };
}
