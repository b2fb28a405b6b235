import { isDeadmanError } from '@deadman/domain';
import type { DeadmanError } from '@deadman/domain';

/**
 * Acts on a batch of which the database may refuse single values (`data-rejected`), and answers item by item in the
 * order of the batch. A refused batch changed nothing, so it is halved until the culprits stand alone and the others are
 * done: about 2·log2(n) acts for each culprit.
 *
 * Any other error is thrown at once. Parts that came before it may then be done: an act whose results must not be lost
 * hands them on itself, before it returns.
 *
 * @param act does one part, all or nothing, and returns one result per item in order.
 * @param onCulprit answers for an item that is refused on its own.
 */
export async function bisect<T, R>(
  batch: readonly T[],
  act: (part: readonly T[]) => Promise<readonly R[]>,
  onCulprit: (item: T, error: DeadmanError) => R,
): Promise<R[]> {
  const [first] = batch;
  if (first === undefined) return [];
  try {
    return [...(await act(batch))];
  } catch (error) {
    if (!isDeadmanError(error, 'data-rejected')) throw error;
    if (batch.length === 1) return [onCulprit(first, error)];
  }
  const middle = Math.ceil(batch.length / 2);
  const left = await bisect(batch.slice(0, middle), act, onCulprit);
  const right = await bisect(batch.slice(middle), act, onCulprit);
  return [...left, ...right];
}
