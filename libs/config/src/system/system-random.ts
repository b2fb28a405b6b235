import { Random } from '@deadman/domain';

/** Dice for jitter. Not for secrets. */
export class SystemRandom extends Random {
  override next(): number {
    return Math.random();
  }
}
