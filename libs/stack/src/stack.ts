import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withStartLock } from '@deadman/embedded-postgres';
import { installPackages } from './debian-packages.js';
import { GivenServer } from './given-server.js';
import { kafkaRecipe } from './kafka-recipe.js';
import { PostgresServer } from './postgres-server.js';
import { RecipeServer } from './recipe-server.js';
import { redisRecipe } from './redis-recipe.js';
import { SERVICES, URL_VARIABLE, type Log, type OwnServer, type ServiceName } from './service.js';
import { StackError } from './stack-error.js';
import { StackFiles, type ServerRecord } from './stack-record.js';

export interface StackOptions {
  /** What `DEADMAN_DATA_DIR` names. The servers live in `stack/` in it; `stack.env` and `stack.json` are written there. */
  dataDir: string;
  /** Servers to take instead of our own, by URL. */
  given?: Partial<Record<ServiceName, string>>;
  /** Hears what happens. Default: nobody. */
  log?: Log;
}

/** A server that answers. */
export interface RunningServer {
  service: ServiceName;
  /** May carry a password: hand it to a driver, and keep it out of logs. */
  url: string;
  port: number;
  /** Null for a server that the environment names. */
  pid: number | null;
  /** Whether it ran before we came. */
  joined: boolean;
  /** How long it took until it answered. Milliseconds. */
  tookMs: number;
}

export interface ServerState extends ServerRecord {
  service: ServiceName;
  /** Whose server it is: ours, or one that the environment names. */
  owner: 'stack' | 'environment';
  /** Null when it answers, and otherwise why not. */
  problem: string | null;
}

/** How long to wait for somebody else who starts or stops the same server, an installation included. Milliseconds. */
const LOCK_LIMIT_MS = 15 * 60_000;

/** How long to wait for somebody else who writes the files. Milliseconds. */
const FILES_LIMIT_MS = 10_000;

/**
 * The real PostgreSQL, Redis and Kafka that the four services and their tests run on.
 *
 * Each server is a process of its own that outlives us, and is found again by its command, whoever started it and
 * however that one ended. So every method can be called again after any failure, and by several processes at once:
 * they take turns, server by server.
 */
export class Stack {
  private readonly folder: string;
  private readonly files: StackFiles;
  private readonly given: Partial<Record<ServiceName, GivenServer>>;
  private readonly log: Log;

  constructor({ dataDir, given = {}, log = () => undefined }: StackOptions) {
    this.folder = join(resolve(dataDir), 'stack');
    mkdirSync(this.folder, { recursive: true });
    this.files = new StackFiles(resolve(dataDir));
    this.log = log;
    this.given = Object.fromEntries(
      SERVICES.flatMap((name) => (given[name] ? [[name, new GivenServer(name, given[name])]] : [])),
    );
  }

  /**
   * Brings servers up, side by side: takes those that run, starts the others, and installs what is missing on a Debian
   * whose root we are. Throws `StackError` when one could not be had; the others then run.
   */
  async up(services: readonly ServiceName[] = SERVICES): Promise<RunningServer[]> {
    await this.installMissing(services);
    return allOf(services.map((name) => this.bringUp(name)));
  }

  /** Brings one server up. */
  async start(service: ServiceName): Promise<RunningServer> {
    const [server] = await this.up([service]);
    return server!;
  }

  /**
   * Ends a server of ours with the signal, by default the one for a clean end, and resolves once it is gone. Answers
   * whether it ran. Its port and its data stay.
   */
  async stop(service: ServiceName, signal?: NodeJS.Signals): Promise<boolean> {
    return this.alone(service, async (server) => {
      const running = server.find() !== null;
      await server.stop(signal);
      return running;
    });
  }

  /** Kills a server of ours outright, as a crash would. Answers whether it ran. */
  async kill(service: ServiceName): Promise<boolean> {
    return this.stop(service, 'SIGKILL');
  }

  /**
   * Kills a server of ours and removes its data. It stays down until it is brought up again, empty, on the same port;
   * PostgreSQL then has a new password, and so a new URL.
   */
  async wipe(service: ServiceName): Promise<void> {
    await this.alone(service, async (server) => {
      await server.stop('SIGKILL');
      await server.wipe();
    });
  }

  /** Ends all servers of ours, and answers which of them ran. Those that the environment names are left alone. */
  async down(services: readonly ServiceName[] = SERVICES): Promise<ServiceName[]> {
    const own = services.filter((name) => !this.given[name]);
    const ran = await allOf(own.map((name) => this.stop(name)));
    return own.filter((_, index) => ran[index]);
  }

  /** Asks every server how it is, changing nothing. */
  async status(services: readonly ServiceName[] = SERVICES): Promise<ServerState[]> {
    return Promise.all(
      services.map(async (service) => {
        const given = this.given[service];
        if (given) {
          const problem = await given.whyNotReady();
          return { service, owner: 'environment' as const, problem, ...recordOfGiven(given) };
        }
        const server = this.own(service);
        const record = recordOf(server);
        const problem = record.pid === null ? 'it does not run' : await server.whyNotReady();
        return { service, owner: 'stack' as const, problem, ...record };
      }),
    );
  }

  private async installMissing(services: readonly ServiceName[]): Promise<void> {
    const down = services.filter((name) => !this.given[name]).map((name) => this.own(name));
    const packages = down.filter((server) => server.find() === null).flatMap((server) => server.missingPackages());
    await installPackages([...new Set(packages)], this.log);
  }

  private async bringUp(service: ServiceName): Promise<RunningServer> {
    const begun = performance.now();
    const given = this.given[service];
    if (given) return this.take(given, begun);
    return this.alone(service, async (server) => {
      const joined = server.find() !== null;
      await server.start();
      const { url, port, pid } = recordOf(server);
      return { service, url: url!, port: port!, pid, joined, tookMs: performance.now() - begun };
    });
  }

  private async take(given: GivenServer, begun: number): Promise<RunningServer> {
    const { name: service, url, port } = given;
    const problem = await given.whyNotReady();
    if (problem) throw new StackError(`${URL_VARIABLE[service]} names a server that cannot be reached: ${problem}.`);
    await this.note(service, recordOfGiven(given));
    return { service, url, port, pid: null, joined: true, tookMs: performance.now() - begun };
  }

  /** Acts on a server of ours while nobody else does, and notes what became of it, also when the act failed. */
  private alone<T>(service: ServiceName, act: (server: OwnServer) => Promise<T>): Promise<T> {
    if (this.given[service]) {
      throw new StackError(`${service} is the server that ${URL_VARIABLE[service]} names, which is not ours to touch.`);
    }
    return withStartLock(join(this.folder, `${service}.lock`), LOCK_LIMIT_MS, async () => {
      const server = this.own(service);
      try {
        return await act(server);
      } finally {
        await this.note(service, recordOf(server));
      }
    });
  }

  private note(service: ServiceName, record: ServerRecord): Promise<void> {
    return withStartLock(join(this.folder, 'files.lock'), FILES_LIMIT_MS, async () =>
      this.files.update({ [service]: record }),
    );
  }

  private own(service: ServiceName): OwnServer {
    const home = join(this.folder, service);
    if (service === 'postgres') return new PostgresServer(home, this.log);
    return new RecipeServer(service === 'redis' ? redisRecipe : kafkaRecipe, home, this.log);
  }
}

function recordOf(server: OwnServer): ServerRecord {
  return { pid: server.find()?.pid ?? null, ...server.facts() };
}

function recordOfGiven({ url, port }: GivenServer): ServerRecord {
  return { pid: null, port, dataDir: null, log: null, url };
}

/** Lets all come to their end before it tells what failed. */
async function allOf<T>(acts: Promise<T>[]): Promise<T[]> {
  const ends = await Promise.allSettled(acts);
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
  if (reasons.length === 1) throw reasons[0]!;
  if (reasons.length > 1) throw new StackError(reasons.map(({ message }) => message).join('\n\n'), { cause: reasons });
  return ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
}
