/**
 * Runs the tour of README.md against a Deadman of its own and compares what it prints with what the page says. Blocks
 * marked `console` are the tour: a line that begins with `$ ` is a command, the lines behind it are its output.
 *
 * `node tools/readme.mjs` checks, `node tools/readme.mjs --write` puts the real output into the page. What differs from
 * run to run (ids, times, the port) is compared by shape.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureBuilt } from './build-all.mjs';
import { ensureInstalled } from './install.mjs';
import { endWhenTold, startChild } from './signals.mjs';
import { NODE, ROOT, projectEnv } from './workspace.mjs';

const PAGE = join(ROOT, 'README.md');
const PORT_OF_PAGE = '127.0.0.1:8080';
const READY_WITHIN_MS = 60_000;
const COMMAND_WITHIN_MS = 30_000;

await ensureInstalled();
await ensureBuilt();
process.exitCode = await main(process.argv.includes('--write'));

async function main(isWriting) {
  const page = readFileSync(PAGE, 'utf8');
  const port = await freePort();
  const deadman = await startDeadman(port);
  const shell = openShell();
  try {
    const faults = [];
    let written = page;
    for (const step of stepsOf(page)) {
      const output = await shell.run(step.command.replaceAll(PORT_OF_PAGE, `127.0.0.1:${port}`));
      const shown = output
        .replaceAll(`127.0.0.1:${port}`, PORT_OF_PAGE)
        .replaceAll(ROOT.replace(/\/$/, ''), '/srv/deadman');
      if (shapeOf(shown) !== shapeOf(step.output)) faults.push({ ...step, shown });
      written = written.replace(step.text, `$ ${step.command}\n${shown}`);
    }
    if (isWriting) writeFileSync(PAGE, written);
    return isWriting ? 0 : report(faults);
  } finally {
    shell.close();
    await deadman.stop();
  }
}

function stepsOf(page) {
  const blocks = [...page.matchAll(/^```console\n(.*?)^```$/gms)].map(([, body]) => body.trimEnd());
  return blocks.flatMap((body) => body.split(/^(?=\$ )/m).map(toStep));
}

/** A command goes on over lines that end with a backslash. */
function toStep(text) {
  const lines = text.trimEnd().split('\n');
  const last = lines.findIndex((line) => !line.endsWith('\\'));
  const command = lines
    .slice(0, last + 1)
    .join('\n')
    .slice(2);
  return { text: text.trimEnd(), command, output: lines.slice(last + 1).join('\n') };
}

function shapeOf(output) {
  return output
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
    .replace(/^(date|x-request-id|etag|content-length|connection|keep-alive):.*$/gim, '$1')
    .replace(/"stack":"(\\.|[^"\\])*"/g, '"stack":…')
    .replace(/"(oldestPendingAgeSeconds)":[\d.]+/g, '"$1":N')
    .trim();
}

function report(faults) {
  for (const { command, output, shown } of faults) {
    process.stdout.write(`README.md: the output of\n  ${command}\nis\n  ${shown}\nand not\n  ${output}\n\n`);
  }
  process.stdout.write(faults.length === 0 ? 'README.md: every command works as printed\n' : '');
  return faults.length === 0 ? 0 : 1;
}

async function startDeadman(port) {
  const folder = mkdtempSync(join(tmpdir(), 'deadman-readme-'));
  const managementPort = await freePort();
  const child = startChild(NODE, [join(ROOT, 'apps', 'standalone', 'dist', 'main.js')], {
    cwd: ROOT,
    env: projectEnv({
      DEADMAN_DATA_DIR: folder,
      PORT: port,
      MANAGEMENT_PORT: managementPort,
      DEADMAN_LOG_LEVEL: 'error',
    }),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  endWhenTold(stop);
  await until(async () => (await fetch(`http://127.0.0.1:${managementPort}/health/ready`)).ok, child);
  return { stop };
}

/** One shell for the whole tour, since later commands use what earlier ones kept in variables. */
function openShell() {
  const shell = spawn('bash', ['--noprofile', '--norc'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(shell.stdout)[Symbol.asyncIterator]();
  const END = '=== end of output ===';
  return {
    async run(command) {
      shell.stdin.write(`${command}\nprintf '\\n%s\\n' '${END}'\n`);
      const output = [];
      for (;;) {
        const { value, done } = await withLimit(lines.next(), command);
        if (done) throw new Error(`The shell ended in ${command}`);
        if (value === END) return output.join('\n').replaceAll('\r', '').trimEnd();
        output.push(value);
      }
    },
    close: () => shell.kill('SIGKILL'),
  };
}

async function withLimit(line, command) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`No output within ${COMMAND_WITHIN_MS} ms of ${command}`)),
      COMMAND_WITHIN_MS,
    );
  });
  return Promise.race([line, late]).finally(() => clearTimeout(timer));
}

async function until(check, child) {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    if (await check().catch(() => false)) return;
    if (child.exitCode !== null || performance.now() > deadline) throw new Error('Deadman did not start');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}
