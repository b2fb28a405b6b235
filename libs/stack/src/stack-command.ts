import { relative, resolve } from 'node:path';
import { SERVICES, URL_VARIABLE, type ServiceName } from './service.js';
import { Stack, type RunningServer, type ServerState } from './stack.js';

const USAGE = `npm run stack -- up | down | status [service …]           without a service: all
npm run stack -- start | stop | kill | wipe <service …>   wipe kills it and removes its data; it stays down

Services: ${SERVICES.join(', ')}. Their data is kept in DEADMAN_DATA_DIR, by default .deadman.
${SERVICES.map((name) => URL_VARIABLE[name]).join(', ')} name servers of your own to take instead.
`;

/** Without a service these mean all; the others do harm, and want to be told to whom. */
const MEANS_ALL = ['up', 'down', 'status'];

const EXIT_OK = 0;
const EXIT_NOT_ALL_ANSWER = 1;
const EXIT_USAGE = 2;

export interface StackCommand {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** From where a relative `DEADMAN_DATA_DIR` counts. */
  root: string;
  print: (text: string) => void;
}

/** `npm run stack`: does what the arguments say and answers with the exit code. Throws `StackError`. */
export async function runStackCommand({ args, env, root, print }: StackCommand): Promise<number> {
  const [verb = '', ...named] = args;
  const act = Object.hasOwn(ACTS, verb) ? ACTS[verb] : undefined;
  const services = named.length === 0 && MEANS_ALL.includes(verb) ? SERVICES : named;
  if (!act || services.length === 0 || !services.every(isService)) {
    print(USAGE);
    return EXIT_USAGE;
  }
  const dataDir = resolve(root, env['DEADMAN_DATA_DIR'] || '.deadman');
  const stack = new Stack({ dataDir, given: givenBy(env), log: (line) => print(`${line}\n`) });
  return act(stack, services, print, dataDir);
}

type Act = (
  stack: Stack,
  services: readonly ServiceName[],
  print: StackCommand['print'],
  dataDir: string,
) => Promise<number>;

const ACTS: Readonly<Record<string, Act>> = {
  up,
  start: up,
  status,
  async down(stack, services, print) {
    const ended = await stack.down(services);
    print(ended.length > 0 ? `Ended: ${ended.join(', ')}.\n` : 'Nothing of ours was running.\n');
    return EXIT_OK;
  },
  stop: (stack, services, print) =>
    each(services, async (name) => print((await stack.stop(name)) ? `${name} has ended.\n` : `${name} did not run.\n`)),
  kill: (stack, services, print) =>
    each(services, async (name) => print((await stack.kill(name)) ? `${name} is killed.\n` : `${name} did not run.\n`)),
  wipe: (stack, services, print) =>
    each(services, async (name) => {
      await stack.wipe(name);
      print(`${name} is down, and its data is gone. To start it empty: npm run stack -- up ${name}\n`);
    }),
};

async function up(...[stack, services, print, dataDir]: Parameters<Act>): Promise<number> {
  const servers = await stack.up(services);
  for (const server of servers) print(`${sentenceOn(server)}\n`);
  print(`The URLs are in ${relative(process.cwd(), dataDir) || '.'}/stack.env.\n`);
  return EXIT_OK;
}

async function status(...[stack, services, print]: Parameters<Act>): Promise<number> {
  const states = await stack.status(services);
  print(table([['SERVICE', 'STATE', 'PORT', 'PID', 'LOG'], ...states.map(cellsOf)]));
  for (const { service, problem, pid } of states) {
    if (problem && pid !== null) print(`${service}: ${problem}\n`);
  }
  return states.every(({ problem }) => problem === null) ? EXIT_OK : EXIT_NOT_ALL_ANSWER;
}

async function each(services: readonly ServiceName[], act: (service: ServiceName) => Promise<void>): Promise<number> {
  for (const service of services) await act(service);
  return EXIT_OK;
}

function sentenceOn({ service, port, pid, joined, tookMs }: RunningServer): string {
  if (pid === null) return `${service}: ${URL_VARIABLE[service]} names it, and it can be reached.`;
  const how = joined ? 'runs already' : `answers after ${(tookMs / 1000).toFixed(1)} s`;
  return `${service}: ${how} (port ${port}, process ${pid}).`;
}

function cellsOf({ service, owner, problem, port, pid, log }: ServerState): string[] {
  const state = problem === null ? 'answers' : pid === null && owner === 'stack' ? 'down' : 'does not answer';
  return [service, state, String(port ?? '-'), String(pid ?? '-'), log ?? `(${URL_VARIABLE[service]})`];
}

function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '));
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function givenBy(env: NodeJS.ProcessEnv): Partial<Record<ServiceName, string>> {
  return Object.fromEntries(
    SERVICES.flatMap((name) => (env[URL_VARIABLE[name]] ? [[name, env[URL_VARIABLE[name]]]] : [])),
  );
}

function isService(name: string): name is ServiceName {
  return (SERVICES as readonly string[]).includes(name);
}
