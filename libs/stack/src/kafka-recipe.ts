import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findKafkaJars, fetchKafkaJars, kafkaPackages } from './kafka-jars.js';
import { findJava } from './java.js';
import { whyKafkaIsNotReady } from './kafka-probe.js';
import { runProgram } from './programs.js';
import { replaceFile } from './replace-file.js';
import { makeDataFolder, type ServerFolder } from './server-folder.js';
import type { Launch, ServerRecipe } from './server-recipe.js';
import type { Log } from './service.js';
import { StackError } from './stack-error.js';

/** One JVM run that writes two files; usually takes a second. Milliseconds. */
const FORMAT_LIMIT_MS = 60_000;

/** One node that is broker and controller. Ports: for clients, and for the controller. */
export const kafkaRecipe: ServerRecipe = {
  name: 'kafka',
  stopSignal: 'SIGTERM',
  portCount: 2,
  missingPackages: ({ account }) => kafkaPackages(account),
  prepare,
  isServer: (command, folder) => command.endsWith(` kafka.Kafka ${propertiesFile(folder)}`),
  whyNotReady: whyKafkaIsNotReady,
  url: (port) => `127.0.0.1:${port}`,
};

async function prepare(folder: ServerFolder, ports: readonly number[], log: Log): Promise<Launch> {
  const java = findJava(folder.account);
  if (!java) throw new StackError('Java 17 or later is not installed.');
  const jars = findKafkaJars(folder.account) ?? (await fetchKafkaJars(folder.account, log));
  makeDataFolder(folder);
  replaceFile(propertiesFile(folder), properties(ports, topicsFolder(folder)));
  replaceFile(loggingFile(folder), LOGGING);
  const command = (main: string, ...args: string[]): string[] => [
    ...JVM_OPTIONS,
    `-Dkafka.logs.dir=${folder.data}`,
    `-Dlog4j2.configurationFile=file:${loggingFile(folder)}`,
    '-cp',
    join(jars, '*'),
    main,
    ...args,
  ];
  await ensureFormatted(folder, (...args) =>
    runProgram(java, [SHORT_RUN_OPTION, ...command('kafka.tools.StorageTool', 'format', ...args)], {
      limitMs: FORMAT_LIMIT_MS,
      account: folder.account,
    }),
  );
  return { file: java, args: command('kafka.Kafka', propertiesFile(folder)) };
}

/** The mark is written last: what a killed run left half formatted is made anew. */
async function ensureFormatted(folder: ServerFolder, format: (...args: string[]) => Promise<void>): Promise<void> {
  const mark = join(folder.data, 'formatted');
  if (existsSync(mark)) return;
  rmSync(topicsFolder(folder), { recursive: true, force: true });
  makeDataFolder(folder, 'topics');
  await format('-t', newClusterId(), '-c', propertiesFile(folder));
  writeFileSync(mark, '');
}

/** A UUID in Kafka's notation, 22 characters. The first is a letter, so that no id looks like an option. */
function newClusterId(): string {
  return `D${randomBytes(16).toString('base64url').slice(1)}`;
}

function topicsFolder(folder: ServerFolder): string {
  return join(folder.data, 'topics');
}

function propertiesFile(folder: ServerFolder): string {
  return join(folder.path, 'server.properties');
}

function loggingFile(folder: ServerFolder): string {
  return join(folder.path, 'log4j2.properties');
}

/** Kafka's own scripts ask for a heap of 1 GB and for G1; one node on loopback is content with 250 MB of memory. */
const JVM_OPTIONS = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', '-Djava.awt.headless=true'];

/** No time for the optimising compiler to pay for itself: halves what formatting takes. */
const SHORT_RUN_OPTION = '-XX:TieredStopAtLevel=1';

/**
 * Small where Kafka's defaults mean a cluster: one replica, few partitions of internal topics, an 8 MB dedupe buffer
 * instead of 128 MB of heap. A broker killed outright waits for its own old registration to lapse, at the default for
 * 12 s and with a session of one second for 3. Topics are made by the services alone, with their partition count.
 */
function properties([port, controllerPort]: readonly number[], topics: string): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=${topics}
auto.create.topics.enable=false
num.partitions=4
num.network.threads=2
num.io.threads=4
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=250
log.cleaner.dedupe.buffer.size=8388608
log.segment.bytes=67108864
`;
}

/** To standard output, which is the server's log file. */
const LOGGING = `rootLogger.level=warn
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=[%d] %p %c - %m%n
logger.server.name=kafka.server
logger.server.level=info
`;
