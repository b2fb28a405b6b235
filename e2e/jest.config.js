import preset from '../jest.preset.js';

/** Starts the real processes from outside. A minute, because a test waits for whole processes on a busy machine. */
export default { ...preset, displayName: 'e2e', testTimeout: 60_000 };
