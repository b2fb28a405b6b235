import { isDeadmanError } from '@deadman/domain';
import type { Clock, EngineEvents, Random } from '@deadman/domain';
import type { HealthRegistry, Logger, Registry, ServiceInfo } from '@deadman/observability';
import type { KafkaTransportDeps, KafkaTransportListener, KafkaTransportOptions } from '@deadman/transport';
import { EXIT } from './exit-code.js';
import type { ExitCode } from './exit-code.js';
import { GroupWatch } from './group-watch.js';
import { KafkaEventLog } from './kafka-event-log.js';
import { KafkaMetrics } from './kafka-metrics.js';

export interface KafkaLinkDeps {
  readonly kafka: { readonly brokers: readonly string[]; readonly partitions: number };
  /** The topics that this service consumes; none for one that only sends. */
  readonly topics: readonly string[];
  readonly info: ServiceInfo;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly events: EngineEvents;
  readonly registry: Registry;
  readonly health: Pick<HealthRegistry, 'recheck'>;
  readonly giveUp: (code: ExitCode, error: unknown) => void;
}

/** What a service's transport is made of, and what is known of its groups. */
export interface KafkaLink {
  readonly deps: KafkaTransportDeps;
  readonly options: KafkaTransportOptions;
  readonly group: GroupWatch;
}

export function linkKafka({
  kafka,
  topics,
  info,
  clock,
  random,
  logger,
  events,
  registry,
  health,
  giveUp,
}: KafkaLinkDeps): KafkaLink {
  const group = new GroupWatch(topics, () => void health.recheck());
  const metrics = new KafkaMetrics(registry, topics);
  const log = new KafkaEventLog(logger, () => clock.monotonicMs());
  const listener: KafkaTransportListener = {
    on: (event) => {
      group.on(event);
      metrics.on(event);
      log.on(event);
    },
  };
  return {
    deps: { clock, random, events, log: logger, listener, onFatal: (error) => giveUp(exitCodeOf(error), error) },
    options: { connection: { brokers: kafka.brokers, clientId: info.instance }, partitions: kafka.partitions },
    group,
  };
}

/** A topic that is made otherwise than the configuration says stays so, however often somebody tries again. */
function exitCodeOf(error: unknown): ExitCode {
  return isDeadmanError(error, 'configuration-invalid') ? EXIT.config : EXIT.unavailable;
}
