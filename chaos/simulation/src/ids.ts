import { Ids } from '@deadman/domain';

/** The time that all time-ordered ids carry: their counter alone orders them, since nothing may depend on wrong clocks. */
const TIME = '019b76da-a800';

/** Valid uuids, counted instead of drawn: streams of different numbers never meet. */
export class CountedIds extends Ids {
  readonly #stream: string;
  #count = 0;

  /** @param stream 0 to 65 535. */
  constructor(stream: number) {
    super();
    this.#stream = stream.toString(16).padStart(4, '0');
  }

  override timeOrdered(): string {
    return `${TIME}-7000-8${this.#tail()}`;
  }

  override random(): string {
    return `00000000-0000-4000-8${this.#tail()}`;
  }

  #tail(): string {
    this.#count += 1;
    const count = this.#count.toString(16).padStart(11, '0');
    return `${count.slice(0, 3)}-${count.slice(3)}${this.#stream}`;
  }
}
