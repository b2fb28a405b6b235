import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { abortReasonOf, defineJob } from '@deadman/sdk';
import * as v from 'valibot';

const Report = v.object({
  title: v.string(),
  pages: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000)),
});

/** How long a page takes to lay out, in milliseconds. */
const PAGE_MS = 20;

/** Writes a report page by page, shows how far it is, and stops as soon as it is told to. */
export const buildReport = defineJob({
  type: 'report.build',
  schema: Report,

  async run(context) {
    const { title, pages } = context.payload;
    // A folder of its own for each run: a worker that lost its lease may still be writing to another one.
    const folder = await mkdtemp(join(tmpdir(), 'report-'));
    try {
      for (let page = 1; page <= pages; page += 1) {
        await sleep(PAGE_MS, undefined, { signal: context.signal });
        await writeFile(join(folder, `page-${page}.txt`), `${title}, page ${page} of ${pages}\n`);
        context.progress({ page, pages });
      }
    } catch (error) {
      context.log.warn('The report was not finished', { reason: abortReasonOf(context.signal) });
      await rm(folder, { recursive: true });
      throw error;
    }
    return { folder, pages };
  },
});
