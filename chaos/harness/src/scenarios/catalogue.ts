import { allWorkersAtOnce } from './all-workers-at-once.js';
import { alwaysThrows } from './always-throws.js';
import { cancelAgainstComplete } from './cancel-against-complete.js';
import { clockSkew } from './clock-skew.js';
import { everythingAtOnce } from './everything-at-once.js';
import { everything } from './everything.js';
import { idempotencyStorm } from './idempotency-storm.js';
import { killStorm } from './kill-storm.js';
import { lettersAndAWipedBroker } from './letters-and-a-wiped-broker.js';
import { longTransaction } from './long-transaction.js';
import { overload } from './overload.js';
import { poison } from './poison.js';
import { reaperKillStorm } from './reaper-kill-storm.js';
import { rebalanceChurn } from './rebalance-churn.js';
import { rebalanceMidBatch } from './rebalance-mid-batch.js';
import { sameMessageTwice } from './same-message-twice.js';
import type { Scenario } from './scenario.js';
import { brokerKilled, redisKilled } from './server-killed.js';
import { workerKilled } from './worker-killed.js';

/** In the order in which `--scenario all` plays them: those of `faults.md`, and those that `mission.md` names for stage 5. */
export const SCENARIOS: readonly Scenario[] = [
  killStorm,
  allWorkersAtOnce,
  poison,
  reaperKillStorm,
  rebalanceChurn,
  longTransaction,
  clockSkew,
  cancelAgainstComplete,
  idempotencyStorm,
  everything,
  everythingAtOnce,
  workerKilled,
  redisKilled,
  brokerKilled,
  lettersAndAWipedBroker,
  rebalanceMidBatch,
  sameMessageTwice,
  alwaysThrows,
  overload,
];
