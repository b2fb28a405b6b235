/** All projects at once, so that one run of two workers shares them out evenly and writes one report. */
export default {
  // Named by their settings: a folder without any would be taken for the whole repository, and run every test once more.
  projects: ['<rootDir>/{libs,apps,chaos}/*/jest.config.js', '<rootDir>/{tools,e2e}/jest.config.js'],
  // Milliseconds. Generous, so that a busy machine fails no test; jest heeds no project's own limit when it runs several.
  testTimeout: 30_000,
};
