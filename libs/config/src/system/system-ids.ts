import { Ids } from '@deadman/domain';
import { randomFillSync, randomUUID } from 'node:crypto';
import { V7Generator } from 'uuidv7';

/** Randomness drawn by the page: asking the system for each id by itself costs more than all the rest of making it. */
class RandomPool {
  readonly #numbers = new Uint32Array(1_024);
  #used = this.#numbers.length;

  nextUint32(): number {
    if (this.#used === this.#numbers.length) {
      randomFillSync(this.#numbers);
      this.#used = 0;
    }
    const number = this.#numbers[this.#used]!;
    this.#used += 1;
    return number;
  }
}

/** One for the process, since what sorts its ids is a counter. */
const generator = new V7Generator(new RandomPool());

/** Ids from the wall clock and the operating system's randomness. Those of one process sort as they were made. */
export class SystemIds extends Ids {
  override timeOrdered(): string {
    return generator.generate().toString();
  }

  override random(): string {
    return randomUUID();
  }
}
