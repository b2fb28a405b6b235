import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holdStartLock } from './start-lock.js';

describe('holdStartLock', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'deadman-lock-'));
    file = join(folder, 'some.lock');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('gives a lock to one at a time, and to the next once it is released', () => {
    const first = holdStartLock(file);
    expect(first).not.toBeNull();
    expect(holdStartLock(file)).toBeNull();
    first!.release();
    const second = holdStartLock(file);
    expect(second).not.toBeNull();
    second!.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes over what a process that is gone has left behind', () => {
    writeFileSync(file, '4194303 1');
    const held = holdStartLock(file);
    expect(held).not.toBeNull();
    held!.release();
    expect(existsSync(file)).toBe(false);
  });
});
