import { hostname } from 'node:os';

/** Who speaks: in every log line, health body and `build_info`. */
export interface ServiceInfo {
  /** `api`, `worker`, … */
  readonly service: string;
  /** Tells processes of one service apart. */
  readonly instance: string;
  readonly version: string;
}

/** The name of this process: the configured one, or the host's with the process id, which a restart changes. */
export function instanceName(configured: string | null): string {
  return configured ?? `${hostname()}-${process.pid}`;
}
