import { SystemClock, SystemIds, SystemRandom } from '@deadman/config';
import { createLogger, instanceName } from '@deadman/observability';
import type { Logger, ServiceInfo } from '@deadman/observability';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { armFailpoints } from './armed-failpoints.js';
import { CannotStart, EXIT } from './exit-code.js';
import type { ExitCode } from './exit-code.js';
import type { HostConfig, RunningService, ServiceContext, ServiceSpec } from './service.js';
import { StopSignals } from './stop-signals.js';
import { Teardown } from './teardown.js';

/** How long a start that is no longer wanted may take. Milliseconds. */
const START_ENDS_WITHIN_MS = 10_000;

/** Why a service ends, and with which code. */
interface Ending {
  readonly code: ExitCode;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * The life of a process: starts its service, lets it serve until a signal or the service itself ends it, and exits as
 * `docs/decisions/003-exit-codes.md` says. For `main.ts`.
 */
export async function runService<Config extends HostConfig>(spec: ServiceSpec<Config>): Promise<never> {
  const { name: service, config } = spec;
  const info = { service, instance: instanceName(config.process.instance), version: readVersion(spec.manifest) };
  const logger = createLogger(info, config.logging);
  // Whatever is thrown where nobody catches it leaves the process in a state that nobody planned. Its jobs are safe: they
  // lapse, and run again.
  process.on('uncaughtException', (err) => crash(logger, err));
  process.exit(await new ServiceRun(spec, info, logger).run());
}

class ServiceRun<Config extends HostConfig> {
  readonly #spec: ServiceSpec<Config>;
  readonly #info: ServiceInfo;
  readonly #logger: Logger;
  readonly #signals = new StopSignals();
  readonly #teardown: Teardown;
  readonly #ending: Promise<Ending>;
  #end!: (ending: Ending) => void;
  #leftBehind = 0;

  constructor(spec: ServiceSpec<Config>, info: ServiceInfo, logger: Logger) {
    this.#spec = spec;
    this.#info = info;
    this.#logger = logger;
    this.#teardown = new Teardown((name, err) =>
      logger.error({ event: 'service.close-failed', err }, `Closing: ${name}`),
    );
    this.#ending = new Promise((resolve) => (this.#end = resolve));
    void this.#signals.first.then((signal) => this.#end({ code: EXIT.clean, fields: { signal } }));
  }

  async run(): Promise<ExitCode> {
    try {
      const running = await this.#start();
      if (running !== null) this.#announce(running);
      const { code } = await this.#stop(running);
      this.#logger.info({ event: 'service.stopped', exitCode: code }, 'Stopped');
      return code;
    } catch (error) {
      await this.#teardown.run();
      return this.#failed(error);
    }
  }

  /**
   * Null when the service was asked to end and its start does not come to an end: what waits for something that is away
   * stops waiting then, and what has begun to work ends as it should.
   */
  async #start(): Promise<RunningService | null> {
    const started = this.#spec.start(this.#context());
    const isLate = this.#ending.then(() => sleep(START_ENDS_WITHIN_MS, null, { ref: false }));
    return Promise.race([started, isLate]);
  }

  #context(): ServiceContext<Config> {
    const { config } = this.#spec;
    const [clock, random] = [new SystemClock(), new SystemRandom()];
    return {
      config,
      info: this.#info,
      logger: this.#logger,
      teardown: this.#teardown,
      clock,
      random,
      ids: new SystemIds(),
      failpoints: armFailpoints(config.failpoints.failpoint, { clock, random, logger: this.#logger }),
      stopped: this.#signals.stopped,
      hurry: this.#signals.hurry,
      crash: (error) => crash(this.#logger, error),
      giveUp: (code, err) => {
        this.#logger.fatal({ event: 'service.gives-up', err, exitCode: code }, 'The service cannot go on');
        this.#end({ code, fields: { exitCode: code } });
      },
      leaveBehind: (jobs) => (this.#leftBehind += jobs),
    };
  }

  #announce({ facts, banner }: RunningService): void {
    this.#logger.info({ event: 'service.started', ...facts }, 'Started');
    const isForPeople = process.stdout.isTTY || this.#spec.config.process.environment === 'development';
    if (banner !== undefined && isForPeople) process.stdout.write(banner);
  }

  async #stop(running: RunningService | null): Promise<Ending> {
    const ending = await this.#ending;
    this.#logger.info(
      { event: 'service.stopping', ...ending.fields },
      'Finishing what runs; a second signal skips the waiting',
    );
    setTimeout(() => this.#stuck(), this.#spec.shutdownMs).unref();
    await running?.close();
    await this.#teardown.run();
    return this.#leftBehind === 0 ? ending : this.#uncleanly(ending);
  }

  #uncleanly({ code, fields }: Ending): Ending {
    const message = 'Some jobs could be neither finished nor handed back; they lapse, and run again';
    this.#logger.warn({ event: 'service.jobs-left', count: this.#leftBehind }, message);
    return { code: code === EXIT.clean ? EXIT.bug : code, fields };
  }

  #failed(error: unknown): ExitCode {
    if (this.#signals.stopped.aborted) return EXIT.clean;
    if (error instanceof CannotStart) {
      this.#logger.error({ event: 'service.refused', exitCode: error.exitCode }, error.message);
      return error.exitCode;
    }
    this.#logger.fatal({ event: 'service.failed', err: error }, 'The service failed');
    return EXIT.bug;
  }

  #stuck(): never {
    const message = 'The shutdown did not end in time; what still runs will lapse and run again';
    this.#logger.fatal({ event: 'service.stuck' }, message);
    process.exit(EXIT.bug);
  }
}

function crash(logger: Logger, err: unknown): never {
  logger.fatal({ event: 'service.crashed', err }, 'An error that nobody can mend ends the process');
  process.exit(EXIT.bug);
}

function readVersion(manifest: URL): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
