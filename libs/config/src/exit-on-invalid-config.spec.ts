import { describe, expect, it } from '@jest/globals';
import { defineConfig } from './define-config.js';
import { exitOnInvalidConfig } from './exit-on-invalid-config.js';
import type { Exit } from './exit-on-invalid-config.js';
import { httpSlice } from './slices/http-slice.js';

class Ended extends Error {}

function recordingExit(): Exit & { readonly said: string[]; readonly codes: number[] } {
  const said: string[] = [];
  const codes: number[] = [];
  return {
    said,
    codes,
    writeError: (text) => void said.push(text),
    exit: (code) => {
      codes.push(code);
      throw new Ended();
    },
  };
}

describe('exitOnInvalidConfig', () => {
  const definition = defineConfig({ http: httpSlice });

  it('returns a valid configuration and says nothing', () => {
    const exit = recordingExit();
    expect(exitOnInvalidConfig(definition, { PORT: '81' }, exit).http.port).toBe(81);
    expect(exit.said).toEqual([]);
  });

  it('ends with 78 and every fault when it is not valid', () => {
    const exit = recordingExit();
    expect(() => exitOnInvalidConfig(definition, { PORT: 'x', DEADMAN_PORT: '1' }, exit)).toThrow(Ended);
    expect(exit.codes).toEqual([78]);
    expect(exit.said.join('')).toMatch(/PORT is "x"[\s\S]*DEADMAN_PORT is not a variable/);
  });
});
