import type { Histogram } from 'prom-client';
import { Instruments } from './instruments.js';
import type { Registry } from './metrics-registry.js';

/** Seconds, around what one request takes. */
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** How long requests take. */
export class HttpMetrics {
  readonly #durations: Histogram<'method' | 'route' | 'status'>;

  constructor(registry: Registry) {
    this.#durations = new Instruments(registry).histogram(
      'http_server_request_duration_seconds',
      'Time from the request to the end of its answer',
      REQUEST_BUCKETS,
      ['method', 'route', 'status'],
    );
  }

  /** @param request.route the pattern (`/jobs/:id`), never the path: ids must not become labels. */
  observe(request: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly durationMs: number;
  }): void {
    const { method, route, status, durationMs } = request;
    this.#durations.observe({ method, route, status: String(status) }, durationMs / 1_000);
  }
}
