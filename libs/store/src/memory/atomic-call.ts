/**
 * Runs `act` as one call to a database: all at once, with a moment before it in which other calls may come first, and one
 * after it in which they may see what it did before the caller does. If `act` throws it must not have changed anything.
 */
export async function atomicCall<T>(act: () => T): Promise<T> {
  await Promise.resolve();
  const result = act();
  await Promise.resolve();
  return result;
}
