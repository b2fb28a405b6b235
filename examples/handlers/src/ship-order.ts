import { defineJob } from '@deadman/sdk';
import { z } from 'zod';
import { emailProvider } from './email-provider.js';
import { parcelCarrier } from './parcel-carrier.js';

/**
 * Books a parcel and tells the customer, as two steps: an attempt that comes after a crash goes on where the last one
 * was. Whether the step in which it crashed was done nobody knows, so the carrier is asked before it is done again.
 */
export const shipOrder = defineJob({
  type: 'order.ship',
  schema: z.object({ order: z.string(), to: z.email() }),

  async run({ payload, step }) {
    const { trackingNumber } = await step('book', async ({ idempotencyKey, isInDoubt, signal }) => {
      const booked = isInDoubt ? await parcelCarrier.find(idempotencyKey) : undefined;
      return booked ?? parcelCarrier.book(idempotencyKey, { signal });
    });
    const email = { to: payload.to, subject: `Order ${payload.order}`, body: `Your parcel is ${trackingNumber}.` };
    // The provider recognises a repeated request by its key: there is nothing to ask.
    await step('tell', async (told) => emailProvider.send(email, told));
    return { trackingNumber };
  },
});
