import { dead, defineJob } from '@deadman/sdk';
import { z } from 'zod';

/**
 * Moves money from one account to another and hands in the email about it: all of it or nothing, and once, however often
 * a worker dies on the way. The accounts lie in the jobs' database (`sql/create-accounts.sql`).
 */
export const transferMoney = defineJob({
  type: 'money.transfer',
  schema: z.object({ from: z.string(), to: z.string(), cents: z.int().positive(), receiptTo: z.email() }),

  async run({ payload, transaction }) {
    const { from, to, cents, receiptTo } = payload;
    const moved = await transaction('transfer', async ({ query, submit }) => {
      const taken = await query('UPDATE acme.accounts SET cents = cents - $2 WHERE owner = $1 AND cents >= $2', [
        from,
        cents,
      ]);
      if (taken.rowCount === 0) return null;
      await query('UPDATE acme.accounts SET cents = cents + $2 WHERE owner = $1', [to, cents]);
      const email = await submit({ type: 'email.send', payload: { to: receiptTo, subject: `You have paid ${to}` } });
      return { emailJob: email.id };
    });
    return moved ?? dead(`${from} has less than ${cents} cents`);
  },
});
