import { promisify } from 'node:util';
import { gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import type { CompressionTypes as Compression } from 'kafkajs';
import { unreadableRecords } from './unreadable-records.js';

// Node cannot see these among the names of a CommonJS module, and refuses to import them by name.
const { CompressionCodecs, CompressionTypes, KafkaJSNonRetriableError } = kafkajs;

/** The most that one batch may unfold to: 32 times what a broker takes. Bytes. */
const MOST_UNFOLDED = 32 * 1024 * 1024;

/** What kafkajs asks of a codec. */
interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>;
  decompress(compressed: Buffer): Promise<Buffer>;
}

const LIMITS = { maxOutputLength: MOST_UNFOLDED };

const GZIP: Codec = {
  compress: ({ buffer }) => promisify(gzip)(buffer),
  decompress: (compressed) => promisify(gunzip)(compressed, LIMITS),
};

const ZSTD: Codec = {
  compress: ({ buffer }) => promisify(zstdCompress)(buffer),
  decompress: (compressed) => promisify(zstdDecompress)(compressed, LIMITS),
};

/** Node has no such codec. */
function missing(name: string): Codec {
  const refuse = (): Promise<never> => Promise.reject(new KafkaJSNonRetriableError(`Nothing here can read ${name}`));
  return { compress: refuse, decompress: refuse };
}

/**
 * kafkajs reads gzip alone, and crashes the whole consumer on a batch of anything else, again and again: one message
 * would end the deliveries of every partition for good (its issues #254, #750, #1141). Brokers keep whatever a sender or a
 * topic's `compression.type` makes of a batch, so that it needs no fault of ours.
 *
 * What Node can read is read. What cannot be is done: each of its messages arrives as one that is `unreadable`. That loses
 * nothing: a ticket's jobs are found by the idle claim, and a death lies in the outbox until it is recorded.
 *
 * The codecs are those of the whole process, as kafkajs has it.
 */
function use(type: Exclude<Compression, Compression.None>, codec: Codec): void {
  const decompress = async (compressed: Buffer): Promise<Buffer> => {
    try {
      return await codec.decompress(compressed);
    } catch (error) {
      const records = unreadableRecords(compressed, type);
      if (records === null) throw error;
      return records;
    }
  };
  CompressionCodecs[type] = () => ({ ...codec, decompress });
}

use(CompressionTypes.GZIP, GZIP);
use(CompressionTypes.ZSTD, ZSTD);
use(CompressionTypes.Snappy, missing('snappy'));
use(CompressionTypes.LZ4, missing('lz4'));
