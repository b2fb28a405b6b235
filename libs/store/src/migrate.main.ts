import { fileName, migrate, migrationStatus, revertLast } from './postgres/migrate.js';

/** `migrate.main.js [up | down | status]`: changes the schema of the database named by DATABASE_URL. `up` is the default. */
const COMMANDS: Readonly<Record<string, (url: string) => Promise<readonly string[]>>> = {
  up: async (url) => {
    const names = await migrate(url);
    return names.length === 0 ? ['Nothing to migrate'] : names.map((name) => `Applied ${name}`);
  },
  down: async (url) => {
    const number = await revertLast(url);
    return [number === null ? 'Nothing to revert' : `Reverted migration ${number}`];
  },
  status: async (url) =>
    (await migrationStatus(url)).map(
      ({ number, name, isApplied }) => `${isApplied ? 'applied' : 'waiting'}  ${fileName(number, name)}`,
    ),
};

/** Wrong use, after sysexits.h. */
const EXIT_USAGE = 64;

async function main(): Promise<number> {
  const url = process.env['DATABASE_URL'];
  const command = COMMANDS[process.argv[2] ?? 'up'];
  if (!url || !command) {
    process.stderr.write('Usage: DATABASE_URL=postgres://… migrate.main.js [up | down | status]\n');
    return EXIT_USAGE;
  }
  try {
    for (const line of await command(url)) process.stdout.write(`${line}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`);
    return 1;
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

process.exitCode = await main();
