/**
 * Mutants that a spec finds: what they break is looked at more closely there than faults can show, or faults cannot show
 * that it matters at all. The spec has to be of the project that the edits are in.
 */
export const FOUND_BY_SPECS = [
  {
    name: 'the fence does not look at the attempt',
    rule: '§2',
    spec: 'libs/store/src/memory/memory-stores.spec.ts',
    edits: [{ file: 'libs/store/src/memory/decide.ts', from: ' && job.attempt === fence.attempt', to: '' }],
  },
  {
    name: 'an end for another reason passes for the worker’s own',
    rule: '§2',
    spec: 'libs/store/src/memory/memory-stores.spec.ts',
    edits: [
      {
        file: 'libs/store/src/own-end.ts',
        from: ' && reason === row.reason',
        to: '',
      },
    ],
  },
  {
    name: 'tickets starve the idle claim',
    rule: '§5',
    spec: 'libs/engine/src/claim-plan.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: "if (isIdleClaimOwed(situation, pace)) return { kind: 'idle', limit };\n",
        to: '\n',
      },
    ],
  },
  {
    name: 'an error of a claim passes for an empty answer',
    rule: '§5',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claimer.ts',
        from: '      tickets.putBack([...open.values()]);\n',
        to: "      this.#close('stale', [...open.values()], open);\n",
      },
    ],
  },
  {
    name: 'a claim of unknown outcome is not read back',
    rule: '§5',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claimer.ts',
        from: "if (isDeadmanError(error, 'unknown-outcome')) {",
        to: "if (isDeadmanError(error, 'data-rejected')) {",
      },
    ],
  },
  {
    name: 'claim ahead without a bound',
    rule: '§5',
    spec: 'libs/engine/src/claim-plan.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: 'return queued > ahead / 2 ? 0 : slots + ahead - held;',
        to: 'return slots + ahead;',
      },
    ],
  },
  {
    name: 'an idle claim takes what a ticket is still on its way for',
    rule: '§5',
    spec: 'libs/store/src/memory/memory-stores.spec.ts',
    edits: [
      {
        file: 'libs/store/src/memory/claim.ts',
        from: ' || job.createdAt.getTime() > youngest) break;',
        to: ') break;',
      },
    ],
  },
  {
    name: 'an idle claim takes the youngest first',
    rule: '§5',
    spec: 'libs/store/src/memory/memory-stores.spec.ts',
    edits: [
      {
        file: 'libs/store/src/memory/claim.ts',
        from: 'for (const job of db.pending.ascending()) {\n    if (chosen.length === request.limit || job.createdAt.getTime() > youngest) break;',
        to: 'for (const job of [...db.pending.ascending()].toReversed()) {\n    if (job.createdAt.getTime() > youngest) continue;\n    if (chosen.length === request.limit) break;',
      },
    ],
  },
  {
    name: 'an idle claim that got all it asked for waits before the next',
    rule: '§5',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claimer.ts',
        from: 'const pauseMs = this.#isIdleClaimFull ? 0 : idleEveryMs',
        to: 'const pauseMs = idleEveryMs',
      },
    ],
  },
  {
    name: 'tickets keep an idle claim that found more than it could take waiting for five seconds',
    rule: '§5',
    spec: 'libs/engine/src/claim-plan.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: '(isIdleClaimFull ? pace.idleEveryMs : pace.idleAtLeastEveryMs)',
        to: 'pace.idleAtLeastEveryMs',
      },
    ],
  },
  {
    name: 'stale tickets are not taken in turn with idle claims that find more',
    rule: '§5',
    spec: 'libs/engine/src/claim-plan.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: '  if (isIdleClaimFull && areTicketsStale) return true;\n',
        to: '\n',
      },
    ],
  },
  {
    name: 'a claim sets no leases',
    rule: '§5',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [{ file: 'libs/engine/src/claimer.ts', from: '    this.#acquireLeases(claims);\n', to: '\n' }],
  },
  {
    name: 'a start waits for the lease store',
    rule: '§5',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claimer.ts',
        from: '    this.#acquireLeases(claims);\n    pool.add(runs);\n',
        to: '    void this.#deps.leases.acquire(claims, this.#options.ttlMs).then(() => pool.add(runs));\n',
      },
    ],
  },
  {
    name: 'a value that the store refuses takes its neighbours along',
    rule: '§5',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/bisect.ts',
        from: 'if (batch.length === 1) return [onCulprit(first, error)];',
        to: 'return batch.map((item) => onCulprit(item, error));',
      },
    ],
  },
  {
    name: 'a lease of a lower attempt takes the place of a higher one',
    rule: '§5',
    spec: 'libs/leases/src/memory/memory-lease-store.spec.ts',
    edits: [
      {
        file: 'libs/leases/src/memory/memory-lease-store.ts',
        from: 'if (held === null || held.attempt < lease.attempt) this',
        to: 'if (held === null || held.attempt !== lease.attempt) this',
      },
    ],
  },
  {
    name: 'tickets that were put back take no room',
    rule: '§5',
    spec: 'libs/engine/src/ticket-queue.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/ticket-queue.ts',
        from: '      this.#held += tickets.length;\n',
        to: '',
      },
    ],
  },
  {
    name: 'a claim loop that looks up every millisecond',
    rule: '§5',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claimer.ts',
        from: 'this.#pulse.wait(plan.forMs, ',
        to: 'this.#pulse.wait(Math.min(1, plan.forMs), ',
      },
    ],
  },
  {
    name: 'a renewal counts from its reply',
    rule: '§6',
    spec: 'libs/engine/src/heartbeat.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/heartbeat.ts',
        from: 'run.renewedAtMs = Math.max(run.renewedAtMs, sentAtMs);',
        to: 'run.renewedAtMs = Math.max(sentAtMs, nowMs);',
      },
    ],
  },
  {
    name: 'only Postgres vouches',
    rule: '§6',
    spec: 'libs/engine/src/heartbeat.spec.ts',
    edits: [{ file: 'libs/engine/src/heartbeat.ts', from: '    this.#vouch(mine, sentAtMs);\n', to: '\n' }],
  },
  {
    name: 'a run past its timeout is renewed',
    rule: '§6',
    spec: 'libs/engine/src/heartbeat.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/holdings.ts',
        from: 'return nowMs - startedAtMs > this.#timeoutMs + timeoutSlackMs;',
        to: 'return nowMs - startedAtMs > Infinity + this.#timeoutMs + timeoutSlackMs;',
      },
    ],
  },
  {
    name: 'a worker claims before its row says that it lives',
    rule: '§6',
    spec: 'libs/engine/src/worker.spec.ts',
    edits: [
      { file: 'libs/engine/src/worker.ts', from: '    await Promise.race([isRegistered, isStopped]);\n', to: '\n' },
    ],
  },
  {
    name: 'runs are told apart by their job alone',
    rule: '§6',
    spec: 'libs/engine/src/run-ledger.spec.ts',
    edits: [
      { file: 'libs/engine/src/run.ts', from: 'return `${claim.token}/${claim.jobId}`;', to: 'return claim.jobId;' },
    ],
  },
  {
    name: 'a renewal takes the lease of another',
    rule: '§6',
    spec: 'libs/leases/src/memory/memory-lease-store.spec.ts',
    edits: [
      {
        file: 'libs/leases/src/memory/memory-lease-store.ts',
        from: 'const isMine = held === null || isSameHolder(held, lease);',
        to: 'const isMine = held === null || held.jobId === lease.jobId;',
      },
    ],
  },
  {
    name: 'a renewal sets no lease that is absent',
    rule: '§6',
    spec: 'libs/leases/src/memory/memory-lease-store.spec.ts',
    edits: [
      {
        file: 'libs/leases/src/memory/memory-lease-store.ts',
        from: 'const isMine = held === null || isSameHolder(held, lease);',
        to: 'const isMine = held !== null && isSameHolder(held, lease);',
      },
    ],
  },
  {
    name: 'a stale run fires when the heart does not answer for it',
    rule: '§6',
    spec: 'libs/engine/src/run-guard.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/run-guard.ts',
        from: "    if (this.#isStale(run)) this.lose({ key: run.key, reason: 'stale' });\n",
        to: '\n',
      },
    ],
  },
  {
    name: 'a beat tells of no cancel',
    rule: '§6',
    spec: 'libs/engine/src/heartbeat.spec.ts',
    edits: [{ file: 'libs/engine/src/heartbeat.ts', from: '    this.#tellCancels(reply.beliefs);\n', to: '\n' }],
  },
  {
    name: 'a beat waits for its stores for longer than a beat',
    rule: '§6',
    spec: 'libs/engine/src/heartbeat.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/heartbeat.ts',
        from: 'this.#options.policy.beatMs * 0.9',
        to: 'this.#options.policy.beatMs * 1.5',
      },
    ],
  },
  {
    name: 'a beat begins without what was told before it',
    rule: '§6',
    spec: 'libs/engine/src/heartbeat.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/heartbeat.ts',
        from: '    this.#deps.catchUp();\n    const sight',
        to: '    const sight',
      },
    ],
  },
  {
    name: 'a reply is judged without what was told before it',
    rule: '§6',
    spec: 'libs/engine/src/heartbeat.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/heartbeat.ts',
        from: '    this.#deps.catchUp();\n    if (reply',
        to: '    if (reply',
      },
    ],
  },
  {
    name: 'a run that came and went during a beat passes for an orphan',
    rule: '§6',
    spec: 'libs/engine/src/heartbeat.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/heartbeat.ts',
        from: 'claiming.has(belief.token) || ',
        to: '',
      },
    ],
  },
  {
    name: 'a worker says that it is gone before it hands back what it holds',
    rule: '§6',
    spec: 'libs/engine/src/worker-drain.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/worker-drain.ts',
        from: '    runner.giveUpAborted();\n',
        to: '    await this.#bounded(this.#retire(), shareMs());\n    runner.giveUpAborted();\n',
      },
    ],
  },
  {
    name: 'a thread that is blocked past the deadline of a job lives on',
    rule: '§6',
    spec: 'apps/worker/src/heartbeat/main-watch.spec.ts',
    edits: [
      {
        file: 'apps/worker/src/heartbeat/main-watch.ts',
        from: 'if (silentMs >= SILENT_AFTER_MS && isAnyOverdue())',
        to: 'if (silentMs >= Infinity && isAnyOverdue())',
      },
    ],
  },
  {
    name: 'a run whose lease is lost is settled as failed',
    rule: '§7',
    spec: 'libs/engine/src/attempt-runner.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/attempt-runner.ts',
        from: "    case 'lease-lost':\n      return null;\n",
        to: "    case 'lease-lost':\n      return { kind: 'fail', error: attemptError('lost', 'lost'), retryable: true, startedAfterMs };\n",
      },
    ],
  },
  {
    name: 'a shutdown counts as a failure',
    rule: '§7',
    spec: 'libs/engine/src/attempt-runner.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/attempt-runner.ts',
        from: "return { kind: 'release', reason: 'shutdown', startedAfterMs };",
        to: "return { kind: 'fail', error: attemptError('shutdown', 'shutdown'), retryable: true, startedAfterMs };",
      },
    ],
  },
  {
    name: 'a lease is deleted whoever holds it',
    rule: '§7',
    spec: 'libs/leases/src/memory/memory-lease-store.spec.ts',
    edits: [
      {
        file: 'libs/leases/src/memory/memory-lease-store.ts',
        from: 'if (held !== null && isSameHolder(held, lease)) this.#leases',
        to: 'if (held !== null) this.#leases',
      },
    ],
  },
  {
    name: 'leases are not deleted with the outcome',
    rule: '§7',
    spec: 'libs/engine/src/settler.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/settler.ts',
        from: '        void this.#underWay.track(this.#release(batch));\n',
        to: '\n',
      },
    ],
  },
  {
    name: 'only the first lease of a batch is deleted',
    rule: '§7',
    spec: 'libs/engine/src/settler.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/settler.ts',
        from: 'batch.map(({ run }) => run.lease)',
        to: 'batch.slice(0, 1).map(({ run }) => run.lease)',
      },
    ],
  },
  {
    name: 'an outcome that the store refuses leaves its job RUNNING',
    rule: '§7',
    spec: 'libs/engine/src/settler.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/settler.ts',
        from: "isDeadmanError(error, 'data-rejected') ? substituteFor(event) : null",
        to: "isDeadmanError(error, 'unknown-outcome') ? substituteFor(event) : null",
      },
    ],
  },
  {
    name: 'a result that cannot be stored is tried again',
    rule: '§7',
    spec: 'libs/engine/src/settler.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/settler.ts',
        from: "return { kind: 'fail', error, retryable: false, startedAfterMs };",
        to: "return { kind: 'fail', error, retryable: true, startedAfterMs };",
      },
    ],
  },
  {
    name: 'a cancel that ended a handler counts as its failure',
    rule: '§7',
    spec: 'libs/engine/src/attempt-runner.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/attempt-runner.ts',
        from: "return { kind: 'cancelled', startedAfterMs };\n    case 'timeout':",
        to: "return { kind: 'fail', error: attemptError('cancelled', 'cancelled'), retryable: true, startedAfterMs };\n    case 'timeout':",
      },
    ],
  },
  {
    name: 'trouble of the store inside an effect is a failure of the handler',
    rule: '§7',
    spec: 'libs/engine/src/run-transactions.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/while-running.ts',
        from: 'if (!isDeadmanError(error) || !error.retryable) throw error;',
        to: 'throw error;',
      },
    ],
  },
  {
    name: 'a transaction that was left idle is a failure at once',
    rule: '§7',
    spec: 'libs/engine/src/run-transactions.spec.ts',
    edits: [
      { file: 'libs/engine/src/run-transactions.ts', from: 'const IDLE_TRIES = 3;', to: 'const IDLE_TRIES = 1;' },
    ],
  },
  {
    name: 'a handler is given what it made although another was faster',
    rule: '§7',
    spec: 'libs/engine/src/run-transactions.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/run-transactions.ts',
        from: "case 'exists':\n        return this.#once(key, change, idleTries);",
        to: "case 'exists':\n        return value;",
      },
    ],
  },
  {
    name: 'a step keeps the attempt that began it last',
    rule: '§7',
    spec: 'libs/store/src/memory/memory-stores.spec.ts',
    edits: [
      {
        file: 'libs/store/src/memory/memory-effect-store.ts',
        from: 'if (known === undefined) this.#putStep(step, { attempt: step.attempt, value: null });',
        to: 'this.#putStep(step, { attempt: step.attempt, value: null });',
      },
    ],
  },
  {
    name: 'an older progress overtakes a newer one',
    rule: '§7',
    spec: 'libs/engine/src/progress-writer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/progress-writer.ts',
        from: 'this.#written = this.#written.then(() => this.#writeLatest());',
        to: 'this.#written = this.#writeLatest();',
      },
    ],
  },
  {
    name: 'an offset moves over what is not settled',
    rule: '§8',
    spec: 'libs/transport/src/kafka/offset-ledger.spec.ts',
    edits: [
      {
        file: 'libs/transport/src/kafka/offset-ledger.ts',
        from: 'book.advance(nowMs - offsetHoldMs, maxTracked)',
        to: 'book.advance(nowMs, maxTracked)',
      },
    ],
  },
  {
    name: 'a long job holds the offset of its partition',
    rule: '§8',
    spec: 'libs/transport/src/kafka/offset-ledger.spec.ts',
    edits: [
      {
        file: 'libs/transport/src/kafka/offset-ledger.ts',
        from: 'book.advance(nowMs - offsetHoldMs, maxTracked)',
        to: 'book.advance(-Infinity, maxTracked)',
      },
    ],
  },
  {
    name: 'a ticket that nobody has claimed gives its offset free',
    rule: '§8',
    spec: 'libs/transport/src/kafka/offset-ledger.spec.ts',
    edits: [
      {
        file: 'libs/transport/src/kafka/partition-book.ts',
        from: 'return this.#waiting.size === 0 ? this.#claimedAtMs : Infinity;',
        to: 'return this.#claimedAtMs;',
      },
    ],
  },
  {
    name: 'a claim is not told to its tickets',
    rule: '§8',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claimer.ts',
        from: '    for (const ticket of tickets) ticket.claimed(jobId);\n',
        to: '\n',
      },
    ],
  },
  {
    name: 'a commit of a past generation counts',
    rule: '§8',
    spec: 'libs/transport/src/kafka/offset-ledger.spec.ts',
    edits: [
      {
        file: 'libs/transport/src/kafka/offset-ledger.ts',
        from: '    if (generation !== this.#generation) return this.#listener.staleDropped(offsets.length);\n',
        to: '\n',
      },
    ],
  },
  {
    name: 'a message of a past generation is tracked',
    rule: '§8',
    spec: 'libs/transport/src/kafka/offset-ledger.spec.ts',
    edits: [
      {
        file: 'libs/transport/src/kafka/offset-ledger.ts',
        from: '    if (generation !== this.#generation) return false;\n',
        to: '\n',
      },
    ],
  },
  {
    name: 'a partition that stays keeps its book',
    rule: '§8',
    spec: 'libs/transport/src/kafka/offset-ledger.spec.ts',
    edits: [
      {
        file: 'libs/transport/src/kafka/offset-ledger.ts',
        from: 'this.#books = new Map(partitions.map((partition) => [partition, new PartitionBook()]));',
        to: 'this.#books = new Map(partitions.map((partition) => [partition, this.#books.get(partition) ?? new PartitionBook()]));',
      },
    ],
  },
  {
    name: 'an error that a reaper saw does not break the watch',
    rule: '§9',
    spec: 'libs/engine/src/reaper.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/reaper.ts',
        from: 'this.#sawStoreAway ||= saysThatStoreIsAway(error);',
        to: 'this.#sawStoreAway ||= false;',
      },
    ],
  },
  {
    name: 'an error that a reaper saw is forgotten before a scan was marked with it',
    rule: '§9',
    spec: 'libs/engine/src/reaper.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/reaper.ts',
        from: '    const storeUnbrokenMs = await store.markScan({ gapMs, sawError: this.#sawStoreAway });\n    this.#sawStoreAway = false;\n',
        to: '    const sawError = this.#sawStoreAway;\n    this.#sawStoreAway = false;\n    const storeUnbrokenMs = await store.markScan({ gapMs, sawError });\n',
      },
    ],
  },
  {
    name: 'an empty lease store is trusted',
    rule: '§9',
    spec: 'libs/domain/src/lease-policy.spec.ts',
    edits: [
      {
        file: 'libs/domain/src/lease-policy.ts',
        from: "const isTrusted = known.lease === 'absent' && known.leaseStoreUnbrokenMs >= ttlMs;",
        to: "const isTrusted = known.lease === 'absent';",
      },
    ],
  },
  {
    name: 'an unknown lease passes for an absent one',
    rule: '§9',
    spec: 'libs/domain/src/lease-policy.spec.ts',
    edits: [
      {
        file: 'libs/domain/src/lease-policy.ts',
        from: "const isTrusted = known.lease === 'absent' && ",
        to: "const isTrusted = known.lease !== 'present' || ",
      },
    ],
  },
  {
    name: 'a lease that was seen lately is forgotten',
    rule: '§9',
    spec: 'libs/domain/src/lease-policy.spec.ts',
    edits: [
      {
        file: 'libs/domain/src/lease-policy.ts',
        from: '&& known.leaseSeenAgeMs <= ttlMs;',
        to: '&& known.leaseSeenAgeMs < 0;',
      },
    ],
  },
  {
    name: 'an overrun is not reclaimed',
    rule: '§9',
    spec: 'libs/domain/src/lease-policy.spec.ts',
    edits: [
      {
        file: 'libs/domain/src/lease-policy.ts',
        from: "if (known.claimAgeMs > ttlMs + known.timeoutMs + policy.timeoutSlackMs) return 'timeout';",
        to: '',
      },
    ],
  },
  {
    name: 'nobody makes room for quarantine',
    rule: '§9',
    spec: 'libs/engine/src/heartbeat.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/heartbeat.ts',
        from: "say({ kind: 'quarantine-waits' });",
        to: "say({ kind: 'quarantine-clear' });",
      },
    ],
  },
  {
    name: 'every worker makes room for quarantine at once',
    rule: '§9',
    spec: 'libs/engine/src/heartbeat.spec.ts',
    edits: [{ file: 'libs/engine/src/heartbeat.ts', from: 'const DRAIN_CHANCE = 0.5;', to: 'const DRAIN_CHANCE = 1;' }],
  },
  {
    name: 'a claim is looked at within its first TTL',
    rule: '§9',
    spec: 'libs/domain/src/lease-policy.spec.ts',
    edits: [
      { file: 'libs/domain/src/lease-policy.ts', from: '  if (known.claimAgeMs <= ttlMs) return null;\n', to: '\n' },
    ],
  },
  {
    name: 'the worker’s life is looked at before the timeout',
    rule: '§9',
    spec: 'libs/domain/src/lease-policy.spec.ts',
    edits: [
      {
        file: 'libs/domain/src/lease-policy.ts',
        from: "  if (known.claimAgeMs > ttlMs + known.timeoutMs + policy.timeoutSlackMs) return 'timeout';\n",
        to: "  if (isSilent(known, ttlMs) && known.claimAgeMs > ttlMs + known.timeoutMs + policy.timeoutSlackMs) return 'timeout';\n",
      },
    ],
  },
  {
    name: 'an unknown lease counts after one TTL',
    rule: '§9',
    spec: 'libs/domain/src/lease-policy.spec.ts',
    edits: [
      {
        file: 'libs/domain/src/lease-policy.ts',
        from: 'isSilent(known, 2 * ttlMs) &&',
        to: 'isSilent(known, ttlMs) &&',
      },
    ],
  },
  {
    name: 'a gap between two scans does not break the watch',
    rule: '§9',
    spec: 'libs/store/src/memory/memory-stores.spec.ts',
    edits: [
      {
        file: 'libs/store/src/memory/upkeep.ts',
        from: 'sawError || now.getTime() - db.watch.lastScanAt.getTime() > gapMs',
        to: 'sawError || gapMs < 0',
      },
    ],
  },
  {
    name: 'a gap between two reads does not break the trust in leases',
    rule: '§9',
    spec: 'libs/leases/src/memory/memory-lease-store.spec.ts',
    edits: [
      {
        file: 'libs/leases/src/memory/memory-lease-store.ts',
        from: 'this.#trust === null || nowMs - this.#trust.lastMs > TRUST_GAP_MS',
        to: 'this.#trust === null',
      },
    ],
  },
  {
    name: 'a reaper forgets which leases it saw',
    rule: '§9',
    spec: 'libs/engine/src/reaper.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/reaper.ts',
        from: 'this.#sightings.see(job.claim.token, nowMs)',
        to: 'this.#sightings.see(job.id, nowMs)',
      },
    ],
  },
  {
    name: 'a reaper that was frozen between its readings decides',
    rule: '§9',
    spec: 'libs/engine/src/reaper.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/reaper.ts',
        from: '    if (nowMs - readings.askedAtMs > this.#options.gapMs) return [];\n',
        to: '\n',
      },
    ],
  },
  {
    name: 'an error of the lease store passes for the absence of leases',
    rule: '§9',
    spec: 'libs/engine/src/reaper.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/reaper.ts',
        from: '    } catch {\n      return null;',
        to: '    } catch {\n      return { present: suspects.map(() => false), unbrokenMs: Infinity };',
      },
    ],
  },
  {
    name: 'a reap waits for rows that others hold',
    rule: '§9',
    spec: 'libs/engine/src/reaper.spec.ts',
    edits: [{ file: 'libs/engine/src/reaper.ts', from: '{ skipLocked: true }', to: '{ skipLocked: false }' }],
  },
  {
    name: 'the leases are asked for only when there are suspects',
    rule: '§9',
    spec: 'libs/engine/src/reaper.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/reaper.ts',
        from: '    try {\n      return await this.#deps.leases',
        to: '    if (suspects.length === 0) return null;\n    try {\n      return await this.#deps.leases',
      },
    ],
  },
  {
    name: 'quarantine does not back off',
    rule: '§9',
    spec: 'libs/domain/src/transition.spec.ts',
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: 'delayMs: quarantineDelayMs(lapsesInRow, limits) };',
        to: 'delayMs: limits.quarantineBaseMs };',
      },
    ],
  },
  {
    name: 'quarantine begins with the sixth lapse',
    rule: '§9',
    spec: 'libs/domain/src/transition.spec.ts',
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: 'lapsesInRow >= limits.quarantineFrom;',
        to: 'lapsesInRow + 1 >= limits.quarantineFrom;',
      },
    ],
  },
  {
    name: 'a failure does not clear the lapses in a row',
    rule: '§9',
    spec: 'libs/domain/src/transition.spec.ts',
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: '    failures,\n    lapsesInRow: 0,\n    crashes: 0,\n',
        to: '    failures,\n',
      },
    ],
  },
  {
    name: 'a worker serves quarantine for as long as anything waits there',
    rule: '§9',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: 'if (situation.drainsUntilMs !== null && nowMs < situation.drainsUntilMs) {',
        to: 'if (situation.drainsUntilMs !== null) {',
      },
      {
        file: 'libs/engine/src/claimer.ts',
        from: 'if (this.#drainsUntilMs !== null && nowMs >= this.#drainsUntilMs) this.#drainsUntilMs = null;',
        to: '',
      },
    ],
  },
  {
    name: 'a worker makes room for quarantine once in its life',
    rule: '§9',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claimer.ts',
        from: 'if (this.#drainsUntilMs !== null && nowMs >= this.#drainsUntilMs) this.#drainsUntilMs = null;',
        to: '',
      },
    ],
  },
  {
    name: 'a worker keeps its slots empty although nothing waits in quarantine any more',
    rule: '§9',
    spec: 'libs/engine/src/claimer.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/claimer.ts',
        from: '    if (this.#drainsUntilMs !== Infinity) return;\n',
        to: '    return;\n',
      },
    ],
  },
  {
    name: 'wake-ups are looked for every millisecond',
    rule: '§10',
    spec: 'libs/engine/src/promoter.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/promoter.ts',
        from: 'this.#pulse.wait(Math.ceil(restMs), ',
        to: 'this.#pulse.wait(Math.min(1, restMs), ',
      },
    ],
  },
  {
    name: 'a repeated retry starts over once more',
    rule: '§11',
    spec: 'libs/engine/src/job-commands.spec.ts',
    edits: [{ file: 'libs/engine/src/job-commands.ts', from: "  if (past.kind === 'done') return true;\n", to: '\n' }],
  },
  {
    name: 'a notice of a cancel stops whatever run of its job',
    rule: '§11',
    spec: 'libs/engine/src/beating-heart.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/beating-heart.ts',
        from: 'claims.flatMap((claim) => this.#holdings.find(runKey(claim)) ?? [])',
        to: 'this.#holdings.all().filter(({ lease }) => claims.some(({ jobId }) => jobId === lease.jobId))',
      },
    ],
  },
  {
    name: 'a notice of a cancel stops its job in whatever claim is under way',
    rule: '§11',
    spec: 'libs/engine/src/beating-heart.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/holdings.ts',
        from: '    const cancelled = this.#claiming.get(token);\n    if (cancelled !== undefined && cancelled.size < MAX_EARLY_CANCELS) cancelled.add(jobId);',
        to: '    if (token) for (const cancelled of this.#claiming.values()) if (cancelled.size < MAX_EARLY_CANCELS) cancelled.add(jobId);',
      },
    ],
  },
  {
    name: 'a repeated retry undoes a cancel',
    rule: '§11',
    spec: 'libs/engine/src/job-commands.spec.ts',
    edits: [
      {
        file: 'libs/engine/src/job-commands.ts',
        from: '  return isCancelledSince || job.attempt',
        to: '  return job.attempt',
      },
    ],
  },
];
