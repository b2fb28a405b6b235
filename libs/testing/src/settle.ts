/** Macrotask turns that `settle` gives by default: enough for adapters in memory, which answer a turn or two later. */
const DEFAULT_TURNS = 4;

/** Lets every promise chain that is ready run on, through `turns` turns of the event loop. Waits for no timer. */
export async function settle(turns = DEFAULT_TURNS): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
