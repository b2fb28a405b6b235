/** What can happen to the bytes of one direction. */
export type FlowFault =
  /** Forwarded as they come. */
  | { readonly kind: 'pass' }
  /** Forwarded in order, each this much later. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Forwarded at this rate. */
  | { readonly kind: 'throttle'; readonly bytesPerSecond: number }
  /** Held back, and forwarded once the fault ends: a cut network that comes back in time for TCP to resume. */
  | { readonly kind: 'stall' }
  /**
   * Swallowed, ends and resets of a connection included: a black hole. In one direction only, it makes the connection
   * half open. One that lost something has a hole in its stream, so it is reset when the fault ends.
   */
  | { readonly kind: 'drop' };

/** What can happen to connections as a whole. */
export type LinkFault =
  /** Existing ones are reset (RST), and new ones as soon as they are accepted. */
  | { readonly kind: 'reset' }
  /** Existing ones are reset, and nobody listens for new ones (ECONNREFUSED). */
  | { readonly kind: 'refuse' };

export type Fault = FlowFault | LinkFault;

export type Direction = 'toServer' | 'toClient';

/** Where a fault strikes. */
export interface FaultScope {
  /** Default: both. Meaningless for `reset` and `refuse`. */
  readonly direction?: Direction;
  /** Default: all. */
  readonly connections?: 'existing' | 'new' | 'all';
}

export const PASS: FlowFault = { kind: 'pass' };

export function isLinkFault(fault: Fault): fault is LinkFault {
  return fault.kind === 'reset' || fault.kind === 'refuse';
}
