import { EngineEvents } from '@deadman/domain';
import type { EngineEvent } from '@deadman/domain';
import type { HealthCheck } from '@deadman/observability';

/** Whether the last scan for dead workers went well. */
export class ScanWatch extends EngineEvents {
  #failure: unknown = null;

  /** Not critical: a scan that failed is tried again, and a restart mends no database. */
  get check(): HealthCheck {
    return {
      name: 'scan',
      critical: false,
      effect: 'the dead are noticed later',
      check: async () => {
        if (this.#failure !== null) throw this.#failure;
      },
    };
  }

  override emit(event: EngineEvent): void {
    if (event.kind === 'reaper-scanned') this.#failure = null;
    else if (event.kind === 'loop-failed' && event.loop === 'reaper') this.#failure = event.error;
  }
}
