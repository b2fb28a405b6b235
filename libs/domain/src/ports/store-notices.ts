/** Nudges that the store sends when somebody should look at once. Any may be lost: whoever listens also looks by itself in time. */
export type StoreNotice =
  /** Somebody asked for running jobs to be cancelled. */
  | { readonly kind: 'cancel'; readonly claims: readonly CancelledClaim[] }
  /** A job was stored that is due before the next scan. */
  | { readonly kind: 'due' };

/** Whose run is to stop. Not just any of the job: when a notice is late, the job may have been retried and claimed since. */
export interface CancelledClaim {
  readonly jobId: string;
  readonly token: string;
}

export abstract class StoreNotices {
  /** Listens until `unsubscribe`. Reconnects by itself for as long as it takes. */
  abstract subscribe(listener: (notice: StoreNotice) => void): Promise<{ unsubscribe(): Promise<void> }>;
}
