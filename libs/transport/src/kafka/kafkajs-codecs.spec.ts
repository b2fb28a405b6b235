import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { CompressionCodecs, CompressionTypes } from 'kafkajs';
import './kafkajs-codecs.js';
import { decodeDeath, decodeTicket } from './ticket-codec.js';
import { unreadableRecords } from './unreadable-records.js';

interface Codec {
  compress(encoder: { buffer: Buffer }): Promise<Buffer>;
  decompress(compressed: Buffer): Promise<Buffer>;
}

type Type = Exclude<CompressionTypes, CompressionTypes.None>;

const codec = (type: Type): Codec => CompressionCodecs[type]() as Codec;

/** The body of a batch as kafkajs hands it to a codec: a view behind its header. */
function inBatch(body: Buffer, { attributes, count, last = count - 1, magic = 2 }: BatchHeader): Buffer {
  const header = Buffer.alloc(61);
  header.writeInt8(magic, 16);
  header.writeInt16BE(attributes, 21);
  header.writeInt32BE(last, 23);
  header.writeInt32BE(count, 57);
  return Buffer.concat([header, body]).subarray(61);
}

interface BatchHeader {
  readonly attributes: number;
  readonly count: number;
  readonly last?: number;
  readonly magic?: number;
}

const JUNK = Buffer.from('no such thing');

describe('the codecs of kafkajs', () => {
  it.each([
    ['gzip', CompressionTypes.GZIP, promisify(gzip)],
    ['zstd', CompressionTypes.ZSTD, promisify(zstdCompress)],
  ] as const)('%s is read, and written', async (_name, type, compress) => {
    const text = Buffer.from('some records '.repeat(1_000));
    expect(await codec(type).decompress(await compress(text))).toEqual(text);
    expect(await codec(type).decompress(await codec(type).compress({ buffer: text }))).toEqual(text);
  });

  it.each([
    ['gzip that is broken', CompressionTypes.GZIP],
    ['zstd that is broken', CompressionTypes.ZSTD],
    ['snappy', CompressionTypes.Snappy],
    ['lz4', CompressionTypes.LZ4],
  ] as const)('%s becomes as many unreadable records as it holds', async (_name, type) => {
    const records = await codec(type).decompress(inBatch(JUNK, { attributes: type, count: 3 }));
    const [one] = [records.subarray(0, records.length / 3)];
    expect(records).toEqual(Buffer.concat([one, one, one]));
    expect(one.includes('\0unreadable')).toBe(true);
  });

  it('what unfolds to more than memory is for becomes unreadable records', async () => {
    const bomb = await promisify(gzip)(Buffer.alloc(33 * 1024 * 1024));
    const records = await codec(CompressionTypes.GZIP).decompress(
      inBatch(bomb, { attributes: CompressionTypes.GZIP, count: 1 }),
    );
    expect(records.length).toBeLessThan(100);
  });

  it.each([
    ['lies behind nothing', JUNK],
    ['lies behind a batch of an older version', inBatch(JUNK, { attributes: 3, count: 3, magic: 1 })],
    ['lies behind a batch of another codec', inBatch(JUNK, { attributes: 2, count: 3 })],
    ['says that it holds nothing', inBatch(JUNK, { attributes: 3, count: 0 })],
    ['says that it holds more than a batch can', inBatch(JUNK, { attributes: 3, count: 2 ** 31 - 1 })],
  ])('what %s stays an error', async (_how, compressed) => {
    expect(unreadableRecords(compressed, CompressionTypes.LZ4)).toBeNull();
    await expect(codec(CompressionTypes.LZ4).decompress(Buffer.from(compressed))).rejects.toThrow('lz4');
  });

  it('an unreadable message is malformed, and no other begins as it does', () => {
    const value = Buffer.from('\0unreadable');
    expect(decodeTicket(value)).toEqual({ kind: 'malformed', reason: 'unreadable' });
    expect(decodeDeath(value)).toEqual({ kind: 'malformed', reason: 'unreadable' });
    expect(decodeTicket(Buffer.from('\0unreadable?'))).toEqual({ kind: 'malformed', reason: 'not-json' });
  });
});
