/** What the banner tells. */
export interface BannerFacts {
  readonly version: string;
  readonly host: string;
  readonly port: number;
  readonly managementPort: number;
  /** Where the jobs are kept, in words. Never a URL: that may hold a password. */
  readonly database: string;
  readonly queues: readonly string[];
  readonly slots: number;
  readonly types: readonly string[];
}

/** Hosts that mean "all addresses of this machine", and what reaches them from here. */
const REACHED_BY: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]', '::1': '[::1]' };

/** For the person who has just started Deadman: what runs where, and a line to try it with that works as printed. */
export function banner(facts: BannerFacts): string {
  const host = REACHED_BY[facts.host] ?? facts.host;
  const api = `http://${host}:${facts.port}`;
  const management = `http://${host}:${facts.managementPort}`;
  const job = `{"type":"demo.echo","payload":{"hello":"world"}}`;
  return `
  Deadman ${facts.version}: api, worker, reaper and dead letters in one process

    API          ${api}            docs: ${api}/docs
    Management   ${management}/health/ready, /metrics
    Jobs         ${facts.database}
    Worker       ${facts.slots} slots, queues: ${facts.queues.join(', ')}
    Handlers     ${facts.types.join(', ')}

  Hand in a job, and see what became of it:

    curl -s ${api}/jobs -H 'Content-Type: application/json' -d '${job}'
    curl -s '${api}/jobs?limit=1'

  Ctrl-C finishes what runs and stops.
`;
}
