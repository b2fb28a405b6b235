export interface EventuallyOptions {
  /** How long to go on trying. Milliseconds of real time, default 10 000: a bound against hanging, not a measurement. */
  readonly withinMs?: number;
  /** Pause between tries. Milliseconds, default 10. */
  readonly everyMs?: number;
}

/** Tries until `check` neither throws nor rejects, and returns what it returned. After the bound, throws what the last try threw. */
export async function eventually<Value>(
  check: () => Value | Promise<Value>,
  { withinMs = 10_000, everyMs = 10 }: EventuallyOptions = {},
): Promise<Value> {
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() >= deadlineMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
