export { createTestDatabase, type TestDatabase, type TestDatabaseTemplate } from './test-database.js';
