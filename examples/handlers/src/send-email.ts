import { dead, defineJob, done, snooze } from '@deadman/sdk';
import { z } from 'zod';
import { emailProvider } from './email-provider.js';

/** Sends one email. May run twice when a worker dies; the provider recognises the second request by its key. */
export const sendEmail = defineJob({
  type: 'email.send',
  schema: z.object({ to: z.email(), subject: z.string().min(1), body: z.string().default('') }),

  async run(context) {
    const { payload, signal, log } = context;
    const answer = await emailProvider.send(payload, { signal, idempotencyKey: context.idempotencyKey() });
    switch (answer.status) {
      case 'accepted':
        return done({ messageId: answer.messageId });
      case 'rate-limited':
        log.info('The provider is busy', { retryAfterSeconds: answer.retryAfterSeconds });
        return snooze({ seconds: answer.retryAfterSeconds });
      case 'rejected':
        return dead(answer.why);
    }
  },
});
