/** The tools are plain JavaScript, so nothing is compiled for their tests. */
export default {
  displayName: 'tools',
  testEnvironment: 'node',
  testMatch: ['<rootDir>/**/*.spec.mjs'],
  transform: {},
};
