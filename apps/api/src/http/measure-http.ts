import type { HttpMetrics } from '@deadman/observability';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** Measures every answer by its route's pattern. To be called before the app listens. */
export function measureHttp(app: NestFastifyApplication, metrics: HttpMetrics): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onResponse', ({ method, routeOptions }, { statusCode, elapsedTime }, done) => {
      // What matches no route shares one name: its path is whatever somebody tries out.
      metrics.observe({ method, route: routeOptions.url ?? 'none', status: statusCode, durationMs: elapsedTime });
      done();
    });
}
