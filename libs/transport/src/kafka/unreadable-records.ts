/** What stands for the value of a message that cannot be read. No message of ours begins with a zero. */
const VALUE = Buffer.from('\0unreadable');

/** What of a batch's header lies right before its records, in bytes counted back from them (Kafka's record batch, version 2). */
const HEADER = { magic: 45, attributes: 40, lastOffsetDelta: 38, count: 4 } as const;
const MAGIC = 2;
const CODEC_MASK = 0x07;

/** The largest batch that is made up for. A broker's limit of a megabyte holds less, unless somebody means harm. */
const MOST_RECORDS = 1_000_000;

/** A message that could not be read, in the place of which another stands. */
export function isUnreadable(value: Buffer): boolean {
  return value.equals(VALUE);
}

/**
 * What kafkajs is given in the place of a compressed batch that cannot be read: as many records as it says it has, all with
 * the offset of its last, so that whoever reads on goes on behind it. Null when what lies before is no batch of that codec.
 *
 * How many there are only the batch's header tells, of which a codec of kafkajs is given nothing. But the bytes that it is
 * given are a view into the answer of the broker, and the header lies before them.
 */
export function unreadableRecords(compressed: Buffer, codec: number): Buffer | null {
  const header = headerBefore(compressed);
  if (header === null || header.readInt8(at('magic')) !== MAGIC) return null;
  if ((header.readInt16BE(at('attributes')) & CODEC_MASK) !== codec) return null;
  const count = header.readInt32BE(at('count'));
  if (count < 1 || count > MOST_RECORDS) return null;
  const record = recordAt(header.readInt32BE(at('lastOffsetDelta')));
  return Buffer.alloc(count * record.length, record);
}

function headerBefore({ buffer, byteOffset }: Buffer): Buffer | null {
  return byteOffset < HEADER.magic ? null : Buffer.from(buffer, byteOffset - HEADER.magic, HEADER.magic);
}

function at(field: keyof typeof HEADER): number {
  return HEADER.magic - HEADER[field];
}

/** A record without a key, a time of its own or headers. */
function recordAt(offsetDelta: number): Buffer {
  const [attributes, timestampDelta] = [0, 0];
  const body = [
    attributes,
    timestampDelta,
    ...varint(offsetDelta),
    ...varint(-1),
    ...varint(VALUE.length),
    ...VALUE,
    0,
  ];
  return Buffer.from([...varint(body.length), ...body]);
}

/** Zigzag, and seven bits to a byte, the lowest first. */
function varint(value: number): readonly number[] {
  const bytes: number[] = [];
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}
