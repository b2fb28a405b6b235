/** What the carrier says of a parcel. */
export interface Booking {
  readonly trackingNumber: string;
}

/** Stands in for a carrier that books a second parcel when it is asked a second time, but can be asked what it booked. */
class ParcelCarrier {
  readonly #booked = new Map<string, Booking>();

  async book(reference: string, { signal }: { readonly signal: AbortSignal }): Promise<Booking> {
    signal.throwIfAborted();
    const booking = { trackingNumber: `parcel-${this.#booked.size + 1}` };
    this.#booked.set(reference, booking);
    return booking;
  }

  async find(reference: string): Promise<Booking | undefined> {
    return this.#booked.get(reference);
  }
}

export const parcelCarrier = new ParcelCarrier();
