import { readdirSync, readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One migration: `NNNN_verb_noun.up.sql` and its `.down.sql`. */
export interface MigrationFiles {
  readonly number: number;
  readonly name: string;
  readonly up: string;
  readonly down: string;
}

const FOLDER = new URL('./migrations/', import.meta.url);
const UP = /^(\d{4})_([a-z0-9_]+)\.up\.sql$/;

/** In the order of their numbers, which run from 1 without a gap. */
export function readMigrations(): readonly MigrationFiles[] {
  const migrations = readdirSync(FOLDER)
    .toSorted()
    .flatMap((file) => {
      const [, digits, name] = UP.exec(file) ?? [];
      if (digits === undefined || name === undefined) return [];
      return [{ number: Number(digits), name, up: read(file), down: read(file.replace('.up.sql', '.down.sql')) }];
    });
  const misplaced = migrations.find(({ number }, index) => number !== index + 1);
  if (misplaced) throw new TypeError(`Migration ${misplaced.number} does not follow the one before it`);
  return migrations;
}

function read(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8');
}

/** TypeORM runs classes, and orders them by the 13 digits at the end of their names, meant for a time. */
export function toMigrationClass({ number, name, up, down }: MigrationFiles): new () => MigrationInterface {
  return class implements MigrationInterface {
    readonly name = `${name}_${String(number).padStart(13, '0')}`;

    async up(runner: QueryRunner): Promise<void> {
      await runner.query(up);
    }

    async down(runner: QueryRunner): Promise<void> {
      await runner.query(down);
    }
  };
}

/** The schema version that this code is written for: the number of its newest migration. */
export const SCHEMA_VERSION: number = readMigrations().length;
