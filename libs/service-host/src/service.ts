import type { Clock, Failpoints, Ids, Random } from '@deadman/domain';
import type { failpointSlice, loggingSlice, processSlice, SliceValues } from '@deadman/config';
import type { Logger, ServiceInfo } from '@deadman/observability';
import type { ExitCode } from './exit-code.js';
import type { Teardown } from './teardown.js';

/** What every service reads of its configuration. */
export interface HostConfig {
  readonly logging: SliceValues<typeof loggingSlice>;
  readonly process: SliceValues<typeof processSlice>;
  readonly failpoints: SliceValues<typeof failpointSlice>;
}

/** What a service is given to start with. */
export interface ServiceContext<Config extends HostConfig = HostConfig> {
  readonly config: Config;
  readonly info: ServiceInfo;
  readonly logger: Logger;
  /** Gets everything that is opened, so that it is closed whatever happens. */
  readonly teardown: Teardown;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly failpoints: Failpoints;
  /** Aborts when the process was asked to stop: waiting for what is away ends then. */
  readonly stopped: AbortSignal;
  /** Aborts when it was asked twice: a shutdown's waiting ends then. */
  readonly hurry: AbortSignal;
  /** Ends the process at once, so that nothing of it goes on. Its jobs are safe: they lapse, and run again. */
  readonly crash: (error: unknown) => never;
  /** Ends the service as a signal would, but with this code: nothing that the process can do by itself helps. */
  readonly giveUp: (code: ExitCode, error: unknown) => void;
  /** Tells, at a shutdown, how many jobs could be neither finished nor handed back: they lapse, and the end is not clean. */
  readonly leaveBehind: (jobs: number) => void;
}

/** A service that serves. */
export interface RunningService {
  /** For the line in the log that says that it has started. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** For the person at a terminal. */
  readonly banner?: string;
  /** Finishes or hands back everything, and closes what was opened. */
  close(): Promise<void>;
}

export interface ServiceSpec<Config extends HostConfig> {
  /** `api`, `worker`, … */
  readonly name: string;
  readonly config: Config;
  /** The `package.json` that has the version. */
  readonly manifest: URL;
  /** What a shutdown may take before the process ends without it. Milliseconds. */
  readonly shutdownMs: number;
  /** @throws CannotStart, or whatever else went wrong. What was opened until then is in the teardown. */
  start(context: ServiceContext<Config>): Promise<RunningService>;
}
