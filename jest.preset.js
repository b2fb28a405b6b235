/**
 * What every project's jest.config.js starts from: native ESM, TypeScript through swc, libs resolved to their sources.
 */
const swc = [
  '@swc/jest',
  {
    swcrc: false,
    sourceMaps: 'inline',
    module: { type: 'es6' },
    jsc: {
      target: 'es2023',
      keepClassNames: true,
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: true },
    },
  },
];

export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/src/**/*.@(spec|int-spec|e2e-spec).ts'],
  // Generous, so that a busy machine fails no test: speed is no test's business.
  testTimeout: 30_000,
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': swc },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  // A misspelt option name is ignored silently, and tests would then run against a stale `dist`.
  testEnvironmentOptions: { customExportConditions: ['@deadman/source', 'node', 'node-addons'] },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
};
