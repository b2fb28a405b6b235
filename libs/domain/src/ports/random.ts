/** The only dice of domain and engine. */
export abstract class Random {
  /** Uniform in [0, 1). */
  abstract next(): number;
}
