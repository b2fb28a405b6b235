/** All projects at once, so that one run of two workers shares them out evenly and writes one report. */
export default {
  projects: ['<rootDir>/libs/*', '<rootDir>/apps/*', '<rootDir>/chaos/*', '<rootDir>/tools', '<rootDir>/e2e'],
  // Milliseconds. Generous, so that a busy machine fails no test; jest heeds no project's own limit when it runs several.
  testTimeout: 30_000,
};
