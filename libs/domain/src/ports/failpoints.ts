/** The places, in the order in which a job passes them. */
export const FAILPOINTS = [
  /** A submit is committed, and nobody has been told of it. */
  'after_submit_commit',
  /** Rows of the outbox are about to be sent. */
  'before_outbox_send',
  /** A claim is about to be sent. */
  'before_claim',
  /** A claim that gave something is committed; there is no lease yet, and no run. */
  'after_claim',
  /** A handler has been called. */
  'mid_handler',
  /** Outcomes are about to be sent to the store. */
  'before_settle',
  /** Outcomes are committed; their wake-ups are not sent, their leases not released, and no offset has moved. */
  'after_settle',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

/** Named places at which a test lets a process die, stand still or meet an error. A deployment arms none. */
export abstract class Failpoints {
  /**
   * The work goes on when this resolves, and at once where it is undefined, which it is for a place that is not armed.
   * Rejects with `unknown-outcome` for a place that is to fail.
   */
  abstract at(place: Failpoint): Promise<void> | undefined;
}

class NoFailpoints extends Failpoints {
  override at(): undefined {
    return undefined;
  }
}

/** Nothing is armed. */
export const NO_FAILPOINTS: Failpoints = new NoFailpoints();
