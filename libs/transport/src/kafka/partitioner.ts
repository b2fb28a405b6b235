/** FNV-1a, 32 bit: offset basis and prime (Fowler, Noll, Vo; RFC 9923). */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * The partition of a job: FNV-1a over the characters of its id, mixed by MurmurHash3's finalizer so that the low bits
 * depend on all of them, modulo the partition count. Fixed for good: every release of every service computes the same
 * number, whatever its Kafka client would do by itself.
 */
export function partitionOf(jobId: string, partitions: number): number {
  return hash(jobId) % partitions;
}

function hash(text: string): number {
  let value = FNV_OFFSET;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), FNV_PRIME);
  return mixed(value);
}

function mixed(value: number): number {
  let mix = value ^ (value >>> 16);
  mix = Math.imul(mix, 0x85ebca6b);
  mix ^= mix >>> 13;
  mix = Math.imul(mix, 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

/** The job ids by partition, each partition's in the order they came. */
export function byPartition(jobIds: Iterable<string>, partitions: number): Map<number, string[]> {
  const groups = new Map<number, string[]>();
  for (const jobId of jobIds) {
    const partition = partitionOf(jobId, partitions);
    const group = groups.get(partition);
    if (group === undefined) groups.set(partition, [jobId]);
    else group.push(jobId);
  }
  return groups;
}
