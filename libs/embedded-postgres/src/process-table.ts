import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/**
 * What the system knows about its processes: `/proc` on Linux, `ps` elsewhere. Only facts that every user may read
 * are used, since root in a container may not look into another user's process.
 */
export interface ProcessEntry {
  pid: number;
  /** Program and arguments, separated by spaces. Empty for a process that has ended and was not waited for. */
  command: string;
}

const HAS_PROC = process.platform === 'linux';

/** Whether `pid` still runs. A zombie does not: it has let go of everything it held. */
export function isAlive(pid: number): boolean {
  if (HAS_PROC) {
    const state = procStat(pid)?.[0];
    return state !== undefined && state !== 'Z' && state !== 'X';
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Tells a process from a later one that was given the same number. Null when there is no such process. */
export function startOf(pid: number): string | null {
  if (HAS_PROC) return procStat(pid)?.[19] ?? null;
  return ps('-o', 'lstart=', '-p', String(pid)).trim() || null;
}

/** Program and arguments of `pid`, empty when there is no such process. */
export function commandOf(pid: number): string {
  return HAS_PROC ? procCommand(pid) : ps('-o', 'command=', '-p', String(pid)).trim();
}

export function listProcesses(): ProcessEntry[] {
  if (!HAS_PROC) return ps('-axo', 'pid=,command=').split('\n').flatMap(parsePsLine);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), command: procCommand(Number(name)) }));
}

function parsePsLine(line: string): ProcessEntry[] {
  const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
  return pid && command ? [{ pid: Number(pid), command }] : [];
}

function procCommand(pid: number): string {
  return (readProc(pid, 'cmdline') ?? '').replaceAll('\0', ' ').trim();
}

/** The fields of `/proc/<pid>/stat` from the state on; the program's name before them may hold anything. */
function procStat(pid: number): string[] | null {
  const text = readProc(pid, 'stat');
  return text === null ? null : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null;
  }
}

function ps(...args: string[]): string {
  try {
    return execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}
