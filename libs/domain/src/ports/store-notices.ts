/** Nudges that the store sends when somebody should look at once. Any may be lost: whoever listens also looks by itself in time. */
export type StoreNotice =
  /** Somebody asked for a running job to be cancelled. */
  | { readonly kind: 'cancel'; readonly jobIds: readonly string[] }
  /** A job was stored that is due before the next scan. */
  | { readonly kind: 'due' };

export abstract class StoreNotices {
  /** Listens until `unsubscribe`. Reconnects by itself for as long as it takes. */
  abstract subscribe(listener: (notice: StoreNotice) => void): Promise<{ unsubscribe(): Promise<void> }>;
}
