import { Ids } from '@deadman/domain';
import { v4, v7 } from 'uuid';

/** Ids from the wall clock and the operating system's randomness. Those of one process sort as they were made. */
export class SystemIds extends Ids {
  override timeOrdered(): string {
    return v7();
  }

  override random(): string {
    return v4();
  }
}
