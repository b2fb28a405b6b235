import { commandOf, isAlive, listProcesses, startOf, waitUntil } from '@deadman/embedded-postgres';
import type { ServerProcess } from './service.js';
import { StackError } from './stack-error.js';

/** How long a server may take to end after a milder signal, and after SIGKILL. Milliseconds. */
const CLEAN_END_MS = 30_000;
const KILLED_END_MS = 10_000;

/** Finds the process whose whole command satisfies `isOurs`. */
export function findProcess(isOurs: (command: string) => boolean): ServerProcess | null {
  for (const { pid, command } of listProcesses()) {
    const startedAt = isOurs(command) ? startOf(pid) : null;
    // Read again, since the number may have been given to another process between the two looks.
    if (startedAt !== null && isOurs(commandOf(pid))) return { pid, startedAt };
  }
  return null;
}

/** Whether it is still that very process, and not a later one of the same number. */
export function runs({ pid, startedAt }: ServerProcess): boolean {
  return isAlive(pid) && startOf(pid) === startedAt;
}

/** Sends a signal to that very process. Answers false when it had ended. */
export function send(server: ServerProcess, signal: NodeJS.Signals): boolean {
  if (!runs(server)) return false;
  try {
    return process.kill(server.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Sends a signal, kills outright what does not heed it in time, and resolves once the process is gone. */
export async function endProcess(server: ServerProcess, signal: NodeJS.Signals): Promise<void> {
  const gone = (): boolean => !runs(server);
  // A process that somebody has frozen heeds nothing but SIGKILL until it is thawed.
  if (send(server, signal) && signal !== 'SIGKILL') send(server, 'SIGCONT');
  if (await waitUntil(gone, signal === 'SIGKILL' ? KILLED_END_MS : CLEAN_END_MS)) return;
  send(server, 'SIGKILL');
  if (await waitUntil(gone, KILLED_END_MS)) return;
  throw new StackError(`Process ${server.pid} does not end, although killed.`);
}
