import { cancel, JobHandler } from '@deadman/sdk';
import type { HandlerContext } from '@deadman/sdk';
import { z } from 'zod';
import { emailProvider } from './email-provider.js';

const Reminder = z.object({ invoice: z.string(), to: z.email(), isPaid: z.boolean() });

/** The same in the form of a class, as a Nest provider would be: fields hold what is dear to make and used by each run. */
@JobHandler('invoice.remind', { schema: Reminder })
export class RemindOfInvoice {
  readonly #dueOn = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

  async run(context: HandlerContext<z.output<typeof Reminder>>) {
    const { invoice, to, isPaid } = context.payload;
    if (isPaid) return cancel();
    const email = {
      to,
      subject: `Invoice ${invoice}`,
      body: `Not paid as of ${this.#dueOn.format(context.job.createdAt)}.`,
    };
    // A scope tells this request from others that the same job might make.
    const options = { signal: context.signal, idempotencyKey: context.idempotencyKey('reminder') };
    return { answer: (await emailProvider.send(email, options)).status };
  }
}
