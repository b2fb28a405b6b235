import { DeadmanError } from '@deadman/domain';

/** One thing that is wrong with the configuration. */
export interface ConfigFault {
  /** The environment variables it is about. */
  readonly variables: readonly string[];
  /** Names the variable and what is allowed. Never holds a secret. */
  readonly message: string;
}

/** Everything that is wrong with a configuration, at once. */
export class ConfigError extends DeadmanError {
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super('configuration-invalid', ['The configuration is not valid:', ...faults.map(toLine)].join('\n'));
    this.faults = faults;
  }
}

function toLine({ message }: ConfigFault): string {
  return `  - ${message}`;
}
