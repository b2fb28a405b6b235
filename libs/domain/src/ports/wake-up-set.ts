/** Jobs by the time they are due, so that any reaper wakes at the right moment. A hint: the scan of the store catches whatever is forgotten. */
export abstract class WakeUpSet {
  /** Adds jobs, or moves them. Throws `lease-store-unavailable`. */
  abstract add(entries: readonly { readonly id: string; readonly inMs: number }[]): Promise<void>;

  /** Removes and returns at most `limit` ids whose time has come. No two callers get the same. Throws `lease-store-unavailable`. */
  abstract popDue(limit: number): Promise<readonly string[]>;

  /** Milliseconds until the next entry is due, at least 0; null when the set is empty. Throws `lease-store-unavailable`. */
  abstract nextInMs(): Promise<number | null>;
}
