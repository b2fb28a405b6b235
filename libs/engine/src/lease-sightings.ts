/** Claims whose sightings are kept at most. Far above what one reaper sees in a TTL; only bounds the memory. */
const MOST_CLAIMS = 100_000;

/**
 * When a reaper last saw a lease of each claim. While the lease store is away, such a memory vouches for a worker for one
 * more TTL (`protocol.md` §9). Kept by claim token: the jobs of one claim statement have one worker.
 */
export class LeaseSightings {
  /** In the order of the sighting, the oldest first. */
  readonly #seenAtMs = new Map<string, number>();

  see(token: string, nowMs: number): void {
    this.#seenAtMs.delete(token);
    this.#seenAtMs.set(token, nowMs);
  }

  /** Milliseconds since the last sighting; null when there is none that is remembered. */
  ageMs(token: string, nowMs: number): number | null {
    const seenAtMs = this.#seenAtMs.get(token);
    return seenAtMs === undefined ? null : nowMs - seenAtMs;
  }

  /** Forgets what is older than `keptMs`, and the oldest of what is too much. */
  prune(nowMs: number, keptMs: number): void {
    for (const [token, seenAtMs] of this.#seenAtMs) {
      if (nowMs - seenAtMs <= keptMs && this.#seenAtMs.size <= MOST_CLAIMS) break;
      this.#seenAtMs.delete(token);
    }
  }
}
