import { Ids } from '@deadman/domain';
import { randomUUID } from 'node:crypto';
import { uuidv7 } from 'uuidv7';

/** Ids from the wall clock and the operating system's randomness. Those of one process sort as they were made. */
export class SystemIds extends Ids {
  override timeOrdered(): string {
    return uuidv7();
  }

  override random(): string {
    return randomUUID();
  }
}
