import { exchange } from './socket-exchange.js';

const LIMIT_MS = 1_000;

/** Kafka's protocol guide, "Metadata API": version 4 is the last that is plain to read and that brokers 2.1 to 4.x know. */
const METADATA = 3;
const VERSION = 4;
const CORRELATION_ID = 1;

/**
 * Null when the broker on `port` serves clients, and otherwise why not. It lists itself among the brokers only once the
 * controller has let it in, which is later than its port opens and than its log says it has started.
 */
export async function whyKafkaIsNotReady(port: number): Promise<string | null> {
  try {
    const brokers = await exchange({ port, send: metadataRequest(), read: brokerCount, withinMs: LIMIT_MS });
    return brokers === '0' ? 'the controller has not let the broker in yet' : null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Asks about no topic, so that the answer is about brokers alone. */
function metadataRequest(): Buffer {
  const body = Buffer.alloc(15);
  body.writeInt16BE(METADATA, 0);
  body.writeInt16BE(VERSION, 2);
  body.writeInt32BE(CORRELATION_ID, 4);
  body.writeInt16BE(-1, 8); // no client id
  body.writeInt32BE(0, 10); // no topics
  body.writeInt8(0, 14); // and create none
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length);
  return Buffer.concat([size, body]);
}

/** Size, correlation id and throttle time come first, four bytes each; then the array of brokers, by its length. */
function brokerCount(received: Buffer): string | null {
  return received.length < 16 ? null : String(received.readInt32BE(12));
}
