import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { ServerAccount } from '@deadman/embedded-postgres';
import { StackError } from './stack-error.js';

/** Where Debian puts servers, which a user's PATH may leave out. */
const MORE_FOLDERS = ['/usr/local/bin', '/usr/bin', '/usr/sbin'];

/** How long a program may take to tell its version. Milliseconds; a JVM on a busy machine needs some. */
const VERSION_LIMIT_MS = 20_000;

/** How much of a failed program's words an error repeats. Characters. */
const TAIL_LENGTH = 3_000;

/** The paths at which `name` is installed, those of the user's PATH first. */
export function findPrograms(name: string): string[] {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...MORE_FOLDERS].filter((folder) => folder !== '');
  const paths = folders.map((folder) => join(folder, name)).filter((path) => existsSync(path));
  return [...new Set(paths)];
}

/** What the program says of its version, or null when `account` cannot run it. */
export function versionOf(program: string, args: string[], account: ServerAccount | null): string | null {
  const asked = spawnSync(program, args, { ...account, cwd: '/', encoding: 'utf8', timeout: VERSION_LIMIT_MS });
  return asked.status === 0 ? `${asked.stdout}${asked.stderr}` : null;
}

export interface ProgramRun {
  limitMs: number;
  account?: ServerAccount | null;
  env?: NodeJS.ProcessEnv;
}

/** Runs a program to its end. Throws `StackError` with its last words when it fails or exceeds its time. */
export function runProgram(file: string, args: string[], { limitMs, account, env }: ProgramRun): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      ...account,
      cwd: '/',
      env: env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
    });
    let said = '';
    const listen = (chunk: Buffer): void => {
      said = `${said}${chunk.toString()}`.slice(-TAIL_LENGTH);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('error', (cause) => reject(new StackError(`${file} cannot be started: ${cause.message}`, { cause })));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve();
      const end = signal
        ? `was ended by ${signal} (its limit is ${limitMs / 1000} s)`
        : `failed with exit code ${code}`;
      return reject(new StackError(`${[file, ...args].join(' ')} ${end}. It said:\n${said.trim() || '(nothing)'}`));
    });
  });
}
