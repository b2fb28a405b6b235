import type { ServerFolder } from './server-folder.js';
import type { Log, ServiceName } from './service.js';

/** A program and its arguments. */
export interface Launch {
  file: string;
  args: string[];
}

/** What is peculiar to one kind of server; `RecipeServer` does what is the same for all. */
export interface ServerRecipe {
  readonly name: ServiceName;
  /** Ends it cleanly. */
  readonly stopSignal: NodeJS.Signals;
  /** How many ports it listens on. The first is the one clients use. */
  readonly portCount: number;
  missingPackages(folder: ServerFolder): string[];
  /** Makes whatever has to be there before the process starts, and says how to start it. Safe to repeat. */
  prepare(folder: ServerFolder, ports: readonly number[], log: Log): Promise<Launch>;
  /** Whether a process with this command, its parts joined by spaces, is the server of this folder. */
  isServer(command: string, folder: ServerFolder): boolean;
  whyNotReady(port: number): Promise<string | null>;
  url(port: number): string;
}
