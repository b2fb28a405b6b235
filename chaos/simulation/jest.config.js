import preset from '../../jest.preset.js';

export default { ...preset, displayName: 'simulation', testTimeout: 60_000 };
