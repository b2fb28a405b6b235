import { fastify } from 'fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Registry } from '../metrics/metrics-registry.js';
import type { ServiceInfo } from '../service-info.js';
import type { HealthRegistry } from './health-registry.js';
import type { HealthReport } from './health-report.js';

/** Probes wait a second or so; nothing here takes longer. Milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;

export interface ManagementOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly health: HealthRegistry;
  readonly metrics: Registry;
  readonly info: ServiceInfo;
}

export interface ManagementServer {
  /** The port it listens on. */
  readonly port: number;
  /** Calling twice does nothing. */
  close(): Promise<void>;
}

/**
 * Serves health, metrics and version for whoever runs the service: no authentication, no logging, nothing cached. Answers
 * come from memory, so probes cannot hurt what is sick. Rejects when the port is taken.
 */
export async function startManagementServer(options: ManagementOptions): Promise<ManagementServer> {
  const server = fastify({ logger: false, forceCloseConnections: true, requestTimeout: REQUEST_TIMEOUT_MS });
  server.addHook('onSend', async (_request, reply) => void reply.header('cache-control', 'no-store'));
  addRoutes(server, options);
  await server.listen({ host: options.host, port: options.port });
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new TypeError('The management server has no port');
  return { port: address.port, close: () => server.close() };
}

function addRoutes(server: FastifyInstance, { health, metrics, info }: ManagementOptions): void {
  server.get('/health/live', (_request, reply) => answer(reply, health.live()));
  server.get('/health/ready', (_request, reply) => answer(reply, health.ready()));
  server.get('/health/startup', (_request, reply) => answer(reply, health.startup()));
  server.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
  server.get('/version', async () => ({ ...info, node: process.versions.node }));
}

function answer(reply: FastifyReply, report: HealthReport): FastifyReply {
  return reply.code(report.status === 'down' ? 503 : 200).send(report);
}
