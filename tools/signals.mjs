/**
 * How a tool and what it starts end together when somebody ends the tool: by Ctrl-C, which the terminal sends to all it has
 * in the foreground, or by a signal to the tool alone, as CI and process managers do. npm adds to that: it passes on what the
 * terminal has sent already.
 *
 * Each child is the first of a process group of its own. The terminal's signals then reach the tool alone, which passes them
 * on to the whole group: once each, also to programs behind the child that would not pass them on, and to those for which
 * being told twice means that they should give up cleaning up. Passing a signal on within one group could not tell whether the
 * terminal had sent it to the child as well. The price: Ctrl-Z stops the tool and what it has started goes on; a child cannot
 * read from the terminal, which none does; and SIGKILL for the tool's group, which nobody can pass on, leaves the child alone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** A signal that comes twice within this time was sent once: by the terminal, and again by npm. Milliseconds. */
const SAME_SIGNAL_MS = 1_000;

/** Says that this process was told to end, so that whatever was to come next is left. */
export class ToldToEnd extends Error {
  name = 'ToldToEnd';

  constructor(signal) {
    super(`Told to end by ${signal}`);
  }
}

const children = new Set();
const lastMs = new Map();
let told = null;
let holders = 0;
let whenTold = null;

/**
 * Does the work of a tool, and answers with its exit code. A signal meanwhile goes to what runs, and the tool ends when that
 * has ended: nothing more is started, and what `act` has to clean up stands in its `finally`, as for any other error.
 *
 * @param {() => Promise<number>} act
 * @returns {Promise<number>} what `act` answers; 128 and the number of the signal when it was cut short by one
 */
export async function untilTold(act) {
  hold();
  try {
    return await act();
  } catch (error) {
    if (told === null) throw error;
    // Whatever fails from here on does so because of the signal, or while cleaning up.
    if (!(error instanceof ToldToEnd)) process.stderr.write(`${error.message}\n`);
    return codeOf(told);
  } finally {
    // Other children may still be ending, each with its own clean-up behind it: no signal may end us before that is done.
    if (told === null) release();
  }
}

/**
 * For a tool that does its work itself, and so would not hear of a signal before it is done: at the first signal, however
 * often it comes, waits for the children to end, cleans up and ends the process.
 *
 * @param {() => Promise<unknown>} cleanUp
 */
export function endWhenTold(cleanUp) {
  hold();
  whenTold = () =>
    void childrenEnded()
      .then(cleanUp)
      .finally(() => process.exit(codeOf(told)));
}

/** Whether a signal has come: what fails since then fails because of it. */
export function isTold() {
  return told !== null;
}

function childrenEnded() {
  return Promise.all([...children].map((child) => once(child, 'close')));
}

/** Starts a program that ends with this process: `spawn`, but for signals. */
export function startChild(command, args, options) {
  if (told !== null) throw new ToldToEnd(told);
  const child = spawn(command, args, { ...options, detached: true });
  children.add(child);
  hold();
  const forget = () => {
    if (children.delete(child)) release();
  };
  child.once('close', forget);
  child.once('error', forget);
  return child;
}

/**
 * @returns {Promise<number>} the child's exit code once it has ended and nobody writes to us for it any more; 128 and the
 * number of the signal when one has ended it. Rejects when it could not be started, or died since this process was told to end.
 */
export function endOf(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      raiseUnlessHeld();
      if (code === null && told !== null) reject(new ToldToEnd(told));
      else resolve(code ?? codeOf(signal));
    });
  });
}

function hold() {
  holders += 1;
  if (holders === 1) for (const signal of SIGNALS) process.on(signal, onSignal);
}

function release() {
  holders -= 1;
  if (holders === 0) for (const signal of SIGNALS) process.off(signal, onSignal);
}

/** Nobody has anything to clean up: the signal ends this process as it would have without us. */
function raiseUnlessHeld() {
  if (told !== null && holders === 0) process.kill(process.pid, told);
}

function onSignal(signal) {
  const nowMs = performance.now();
  const isSame = nowMs - (lastMs.get(signal) ?? -Infinity) <= SAME_SIGNAL_MS;
  lastMs.set(signal, nowMs);
  if (isSame) return;
  for (const child of children) signalGroup(child, signal);
  if (told !== null) return;
  told = signal;
  whenTold?.();
}

function signalGroup({ pid }, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // It has ended, and its end is on its way to us.
    if (error.code !== 'ESRCH') throw error;
  }
}

function codeOf(signal) {
  return 128 + constants.signals[signal];
}
