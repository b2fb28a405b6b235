/**
 * What a file has to hold so that it can be run as a plan. People edit kept plans to try something, and a misspelt kind
 * would do nothing, no worker would never end, and neither would say so. The types are those of `fault-plan.ts`: a kind of
 * fault, or a member, that has no schema here does not compile.
 */
import { z } from 'zod';
import { SERVERS } from './fault-plan.js';
import type { Fault, FaultKind, FaultPlan, NetworkFaults, OutageManner } from './fault-plan.js';
import { LAST_SEED } from './seeds.js';

type FaultOf<Kind extends FaultKind> = Extract<Fault, { readonly kind: Kind }>;

/** Longest time that a plan may name: a day, in milliseconds. A guess at what nobody means; planned ones are under a minute. */
const LONGEST_MS = 86_400_000;
/** Most processes of a kind, and most slots of one. A guess likewise; planned ones are under ten. */
const MOST = 1_000;

const Ms = z.number().min(0).max(LONGEST_MS);
const Count = z.int().min(1).max(MOST);
const Chance = z.number().min(0).max(1);
const Seed = z.int().min(0).max(LAST_SEED);
const Whole = z.int().min(0);
const Server = z.enum(SERVERS);
const Manner = z.enum({ refuses: 'refuses', silent: 'silent' } satisfies { [Name in OutageManner]: Name });
const Hearts = z.enum({ local: 'local', thread: 'thread' } satisfies { [Name in FaultPlan['hearts']]: Name });

const FAULTS = {
  kill: z.strictObject({ kind: z.literal('kill'), atMs: Ms, victim: Whole, forMs: Ms }),
  freeze: z.strictObject({ kind: z.literal('freeze'), atMs: Ms, victim: Whole, forMs: Ms, cutMs: Ms }),
  block: z.strictObject({ kind: z.literal('block'), atMs: Ms, victim: Whole, forMs: Ms }),
  restart: z.strictObject({ kind: z.literal('restart'), atMs: Ms, victim: Whole, forMs: Ms }),
  outage: z
    .strictObject({
      kind: z.literal('outage'),
      atMs: Ms,
      server: Server,
      manner: Manner,
      forMs: Ms,
      isEmptied: z.boolean(),
    })
    .refine(({ server, isEmptied }) => server !== 'postgres' || !isEmptied, {
      path: ['isEmptied'],
      message: 'Postgres never comes back with nothing',
    }),
  blackout: z.strictObject({ kind: z.literal('blackout'), atMs: Ms, forMs: Ms, lagMs: Ms }),
  cut: z.strictObject({ kind: z.literal('cut'), atMs: Ms, victim: Whole, server: Server, forMs: Ms }),
  'redis-flush': z.strictObject({ kind: z.literal('redis-flush'), atMs: Ms }),
  'redis-rewind': z.strictObject({ kind: z.literal('redis-rewind'), atMs: Ms, lostMs: Ms }),
  'kafka-wipe': z.strictObject({ kind: z.literal('kafka-wipe'), atMs: Ms }),
  rebalance: z.strictObject({ kind: z.literal('rebalance'), atMs: Ms }),
  failover: z.strictObject({
    kind: z.literal('failover'),
    atMs: Ms,
    lostMs: Ms,
    forMs: Ms,
    stepMs: z.number().min(-LONGEST_MS).max(LONGEST_MS),
  }),
} satisfies { readonly [Kind in FaultKind]: z.ZodType<FaultOf<Kind>> };

type FaultSchema = (typeof FAULTS)[FaultKind];

const Network = z.strictObject({
  requestLost: Chance,
  replyLost: Chance,
  requestDelayed: Chance,
  requestDoubled: Chance,
  senderKilled: Chance,
  statementRefused: Chance,
  rowLocked: Chance,
} satisfies { readonly [Kind in keyof NetworkFaults]: z.ZodType<number> });

/** A number stands for one script, and so for one job. A plan that was made small may have none. */
const Jobs = z.array(Whole).refine((jobs) => new Set(jobs).size === jobs.length, 'One of the jobs is there twice');

const Plan = z.strictObject({
  seed: Seed,
  untilMs: Ms,
  jobs: Jobs,
  hasPoison: z.boolean(),
  apis: Count,
  workers: Count,
  slots: Count,
  hearts: Hearts,
  reapers: Count,
  network: Network,
  faults: z.array(z.discriminatedUnion('kind', Object.values(FAULTS) as [FaultSchema, ...FaultSchema[]])),
  skewMs: Ms,
} satisfies { readonly [Member in keyof FaultPlan]-?: z.ZodType<FaultPlan[Member]> });

/** A plan as it is kept, with what it broke. */
export const KeptPlan = z.strictObject({ seed: Seed, check: z.string(), note: z.string(), plan: Plan });

/** Where in the file something is wrong, and what: a line for each. */
export function tellFaults({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `  ${z.core.toDotPath(path) || 'the whole'}: ${message}`).join('\n');
}
