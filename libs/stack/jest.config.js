import preset from '../../jest.preset.js';

/** Two minutes, because a broker's start takes seconds on a busy machine, and the first one fetches what it needs. */
export default { ...preset, displayName: 'stack', testTimeout: 120_000 };
