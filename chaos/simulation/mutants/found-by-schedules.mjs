/**
 * Mutants that schedules find. `budget` is how many they may take; the table in `docs/verification.md` says how many they took,
 * and `npm run simulate -- --mutants --table` prints its rows.
 */
export const FOUND_BY_SCHEDULES = [
  {
    name: 'a retry starts the count of attempts again',
    rule: '§1',
    check: 'G4 attempts',
    budget: 200,
    edits: [
      {
        file: 'libs/store/src/memory/apply.ts',
        from: '    version: job.version + 1,\n',
        to: '    version: job.version + 1,\n    attempt: isTerminal(job.state) ? 0 : job.attempt,\n',
      },
    ],
  },
  {
    name: 'a cancel is forgotten at a failure',
    rule: '§1',
    check: '§1 cancel',
    budget: 500,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: "decision.state === 'RUNNING' || decision.state === 'SUCCEEDED') return null;",
        to: "decision.state === 'RUNNING' || decision.state === 'SUCCEEDED' || decision.state === 'FAILED') return null;",
      },
    ],
  },
  {
    name: 'a lapse counts as a failure',
    rule: '§2',
    check: '§2 counters',
    budget: 200,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: '    lapses: job.lapses + 1,\n',
        to: '    lapses: job.lapses + 1,\n    failures: job.failures + 1,\n',
      },
    ],
  },
  {
    name: 'the fence does not look at the token',
    rule: '§2',
    check: 'G2 fence',
    budget: 3000,
    edits: [{ file: 'libs/store/src/memory/decide.ts', from: ' && job.claim.token === fence.token', to: '' }],
  },
  {
    name: 'a lapse written by a reaper passes for the worker’s own end',
    rule: '§2',
    check: '§7 settled',
    budget: 500,
    edits: [
      {
        file: 'libs/store/src/own-end.ts',
        from: '  return possibleEnds(transition).some(',
        to: '  return true || possibleEnds(transition).some(',
      },
    ],
  },
  {
    name: 'a lost reply is taken for a fence',
    rule: '§2',
    check: '§2 already',
    budget: 500,
    edits: [
      {
        file: 'libs/store/src/memory/apply.ts',
        from: "return { kind: endedBefore(db, transition) ? 'already' : 'fenced' };",
        to: "return { kind: 'fenced' };",
      },
    ],
  },
  {
    name: 'a key does not keep a second job out',
    rule: '§3',
    check: 'G1 key',
    budget: 500,
    edits: [
      {
        file: 'libs/store/src/memory/submit.ts',
        from: 'if (holder !== undefined && holder.jobId !== id) {',
        to: 'if (holder !== undefined && holder.jobId === id) {',
      },
    ],
  },
  {
    name: 'a promotion writes no outbox row',
    rule: '§4',
    check: 'G8 outbox row',
    budget: 200,
    edits: [
      { file: 'libs/store/src/memory/claim.ts', from: 'outbox: writeTickets(db, promoted) };', to: 'outbox: [] };' },
    ],
  },
  {
    name: 'a reclaim or a release writes no outbox row',
    rule: '§4',
    check: 'G8 outbox row',
    budget: 200,
    edits: [
      {
        file: 'libs/store/src/memory/apply.ts',
        from: 'outbox: [...writeTickets(db, changed), ...deaths]',
        to: 'outbox: deaths',
      },
    ],
  },
  {
    name: 'the relay does not turn',
    rule: '§4',
    check: '§12 letter',
    budget: 200,
    edits: [
      {
        file: 'libs/engine/src/relay.ts',
        from: 'const entries = await this.#deps.store.takeOutbox(this.#options);',
        to: 'const entries = (await this.#deps.store.takeOutbox(this.#options)).slice(0, 0);',
      },
    ],
  },
  {
    name: 'no idle claim',
    rule: '§5',
    check: 'G9 ends',
    budget: 200,
    edits: [
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: "if (isIdleClaimOwed(situation, pace)) return { kind: 'idle', limit };\n",
        to: '\n',
      },
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: "if (nowMs >= situation.nextIdleClaimAtMs) return { kind: 'idle', limit };\n",
        to: '\n',
      },
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: 'forMs: Math.min(MAX_WAIT_MS, situation.nextIdleClaimAtMs - nowMs)',
        to: 'forMs: MAX_WAIT_MS',
      },
    ],
  },
  {
    name: 'a claim loop that waits for no time at all',
    rule: '§5',
    check: 'G9 livelock',
    budget: 200,
    edits: [
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: "if (isIdleClaimOwed(situation, pace)) return { kind: 'idle', limit };\n",
        to: '\n',
      },
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: "if (nowMs >= situation.nextIdleClaimAtMs) return { kind: 'idle', limit };\n",
        to: '\n',
      },
    ],
  },
  {
    name: 'a claim takes types that its worker does not know',
    rule: '§5',
    check: '§5 types',
    budget: 200,
    edits: [{ file: 'libs/store/src/memory/claim.ts', from: ' && types.includes(job.type)', to: '' }],
  },
  {
    name: 'a late claim is started',
    rule: '§5',
    check: 'G6 late start',
    budget: 1000,
    edits: [
      {
        file: 'libs/engine/src/worker.ts',
        from: 'return run.abortedBy === null && this.#deps.clock.monotonicMs() - run.claimedAtMs <= this.#options.policy.ttlMs;',
        to: 'return run.abortedBy === null;',
      },
    ],
  },
  {
    name: 'a claim counts from its reply',
    rule: '§5',
    check: 'G6 late start',
    budget: 3000,
    edits: [
      {
        file: 'libs/engine/src/claimer.ts',
        from: 'const runs = claimed.map((job) => new Run(job, sentAtMs,',
        to: 'const runs = claimed.map((job) => new Run(job, this.#deps.clock.monotonicMs(),',
      },
    ],
  },
  {
    name: 'a lost run is revived by a later renewal',
    rule: '§6',
    check: 'G2 stale',
    budget: 3000,
    edits: [
      {
        file: 'libs/engine/src/heartbeat.ts',
        from: 'const vouched = runs.filter((run) => !run.isStale(nowMs, this.#options.policy.ttlMs));',
        to: 'const vouched = runs.filter(() => nowMs > 0);',
      },
    ],
  },
  {
    name: 'a run that nobody vouches for is not given up',
    rule: '§6',
    check: 'G2 zombie',
    budget: 3000,
    edits: [
      {
        file: 'libs/engine/src/heartbeat.ts',
        from: "if (run.isStale(nowMs, this.#options.policy.ttlMs)) this.#lose(run, 'stale');",
        to: '',
      },
    ],
  },
  {
    name: 'an orphan is not released',
    rule: '§6',
    check: '§6 orphan',
    budget: 1000,
    edits: [
      {
        file: 'libs/engine/src/heartbeat.ts',
        from: "if (orphans.length > 0) say({ kind: 'orphans-found', orphans });",
        to: '',
      },
    ],
  },
  {
    name: 'a claim whose reply is out passes for an orphan',
    rule: '§6',
    check: 'G6 start',
    budget: 3000,
    edits: [
      { file: 'libs/engine/src/heartbeat.ts', from: 'return !isInFlight && !held', to: 'return !held' },
      { file: 'libs/engine/src/orphans.ts', from: '    if (ledger.isClaiming(token)) return;\n', to: '\n' },
    ],
  },
  {
    name: 'a run that no row confirms goes on',
    rule: '§6',
    check: 'G2 unconfirmed',
    budget: 1000,
    edits: [
      {
        file: 'libs/engine/src/heartbeat.ts',
        from: "if (!believed.has(run.key)) this.#lose(run, 'unconfirmed');",
        to: '',
      },
    ],
  },
  {
    name: 'a run fires without a look at when it was last vouched for',
    rule: '§6',
    check: 'G2 stale',
    budget: 3000,
    edits: [
      {
        file: 'libs/engine/src/run-guard.ts',
        from: '    if (this.#isStale(run)) await this.#ask();\n',
        to: '\n',
      },
      {
        file: 'libs/engine/src/run-guard.ts',
        from: "    if (this.#isStale(run)) this.lose({ key: run.key, reason: 'stale' });\n",
        to: '\n',
      },
    ],
  },
  {
    name: 'a timer throws what nobody catches',
    rule: '§7',
    check: 'uncaught',
    budget: 200,
    edits: [
      {
        file: 'libs/engine/src/attempt-runner.ts',
        from: "() => run.abort('timeout')",
        to: "() => { throw new Error('nobody catches this'); }",
      },
    ],
  },
  {
    name: 'the settler gives up when the store is away',
    rule: '§7',
    check: '§7 outcome kept',
    budget: 500,
    edits: [
      {
        file: 'libs/engine/src/settler.ts',
        from: 'if (!isDeadmanError(error) || !error.retryable || this.#giveUp.signal.aborted) throw error;',
        to: 'if (isDeadmanError(error)) throw error;',
      },
    ],
  },
  {
    name: 'an effect is not fenced',
    rule: '§7',
    check: 'G2 fence',
    budget: 500,
    edits: [
      {
        file: 'libs/store/src/memory/memory-effect-store.ts',
        from: "    if (!this.#holds(effect)) return { kind: 'fenced' };\n",
        to: '\n',
      },
    ],
  },
  {
    name: 'an effect is fenced first instead of last',
    rule: '§7',
    check: 'G2 fence',
    budget: 1000,
    edits: [
      {
        file: 'libs/store/src/memory/memory-effect-store.ts',
        from: "    if (!this.#holds(effect)) return { kind: 'fenced' };\n",
        to: '\n',
      },
      {
        file: 'libs/store/src/memory/memory-effect-store.ts',
        from: '    const transaction = new MemoryTransaction();\n',
        to: "    if (!this.#holds(effect)) return { kind: 'fenced' };\n    const transaction = new MemoryTransaction();\n",
      },
    ],
  },
  {
    name: 'an effect that exists is made again',
    rule: '§7',
    check: 'G2 effect',
    budget: 500,
    edits: [
      {
        file: 'libs/store/src/memory/memory-effect-store.ts',
        from: "    if (this.#db.effects.get(jobId)?.has(key)) return { kind: 'exists' };\n",
        to: '\n',
      },
      { file: 'libs/engine/src/run-transactions.ts', from: '    if (known !== null) return known.value;\n', to: '\n' },
    ],
  },
  {
    name: 'a change is made outside the transaction of its note',
    rule: '§7',
    check: 'G2 effect',
    budget: 500,
    edits: [
      {
        file: 'libs/store/src/memory/memory-effect-store.ts',
        from: '    for (const statement of statements) this.#db.statements.push({ jobId, key, ...statement });\n',
        to: '\n',
      },
      {
        file: 'libs/store/src/memory/memory-effect-store.ts',
        from: "    if (this.#db.effects.get(jobId)?.has(key)) return { kind: 'exists' };\n",
        to: "    for (const statement of statements) this.#db.statements.push({ jobId, key, ...statement });\n    if (this.#db.effects.get(jobId)?.has(key)) return { kind: 'exists' };\n",
      },
    ],
  },
  {
    name: 'a success does not name its effects',
    rule: '§7',
    check: 'G2 effect',
    budget: 1000,
    edits: [
      {
        file: 'libs/engine/src/attempt-runner.ts',
        from: "return { kind: 'succeed', result: result.text, effects, startedAfterMs };",
        to: "return { kind: 'succeed', result: result.text, effects: [], startedAfterMs };",
      },
    ],
  },
  {
    name: 'what a step remembers is done again',
    rule: '§7',
    check: 'G2 step',
    budget: 500,
    edits: [
      {
        file: 'libs/store/src/memory/memory-effect-store.ts',
        from: "if (known !== undefined && known.value !== null) return { kind: 'done', value: known.value };",
        to: '',
      },
    ],
  },
  {
    name: 'a step that began before is not in doubt',
    rule: '§7',
    check: '§7 doubt',
    budget: 500,
    edits: [
      {
        file: 'libs/engine/src/run-steps.ts',
        from: 'return this.#tried.has(name) || (before !== null && before !== this.#run.lease.attempt);',
        to: 'return this.#tried.has(name) && before === null;',
      },
    ],
  },
  {
    name: 'staleness without an unbroken database',
    rule: '§9',
    check: 'false reaps',
    budget: 6000,
    edits: [
      {
        file: 'libs/domain/src/lease-policy.ts',
        from: 'const isUnbroken = known.storeUnbrokenMs >= ttlMs;',
        to: 'const isUnbroken = true;',
      },
    ],
  },
  {
    name: 'a reap does not look at the lease',
    rule: '§9',
    check: 'false reaps',
    budget: 3000,
    edits: [
      {
        file: 'libs/domain/src/lease-policy.ts',
        from: "if (known.lease === 'present') return null;",
        to: "if (known.lease === 'present') return 'lease-lapsed';",
      },
    ],
  },
  {
    name: 'a reap does not look at the worker',
    rule: '§9',
    check: 'false reaps',
    budget: 3000,
    edits: [
      {
        file: 'libs/domain/src/lease-policy.ts',
        from: 'return known.workerAgeMs === null || known.workerAgeMs > thanMs;',
        to: 'return thanMs > 0;',
      },
      {
        file: 'libs/store/src/memory/upkeep.ts',
        from: 'return workerAgeMs === null || workerAgeMs > query.ttlMs;',
        to: 'return true;',
      },
    ],
  },
  {
    name: 'no grace: a reap half a lease after the last beat',
    rule: '§9',
    check: 'G6 start',
    budget: 3000,
    edits: [
      {
        file: 'libs/domain/src/lease-policy.ts',
        from: '  const { ttlMs } = policy;\n',
        to: '  const ttlMs = policy.ttlMs / 4;\n',
      },
      {
        file: 'libs/store/src/memory/upkeep.ts',
        from: '  if (claimAgeMs <= query.ttlMs) return false;',
        to: '  query = { ...query, ttlMs: query.ttlMs / 4 };\n  if (claimAgeMs <= query.ttlMs) return false;',
      },
    ],
  },
  {
    name: 'a plain crash budget instead of quarantine',
    rule: '§9',
    check: '§9 quarantine',
    budget: 3000,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: 'const crashes = job.crashes + (job.claim?.alone ? 1 : 0);',
        to: 'const crashes = job.crashes + 1;',
      },
      {
        file: 'libs/domain/src/transition.ts',
        from: 'const isQuarantined = lapsesInRow >= limits.quarantineFrom;',
        to: 'const isQuarantined = false;',
      },
      {
        file: 'libs/store/src/memory/claim.ts',
        from: 'const isQuarantined = job.lapsesInRow >= quarantineFrom;',
        to: 'const isQuarantined = false;',
      },
    ],
  },
  {
    name: 'a ticket takes a job out of quarantine',
    rule: '§9',
    check: '§9 quarantine',
    budget: 1000,
    edits: [{ file: 'libs/store/src/memory/claim.ts', from: ' && isQuarantined === alone;', to: ';' }],
  },
  {
    name: 'a job from quarantine is taken by a worker that is busy',
    rule: '§9',
    check: '§9 alone',
    budget: 3000,
    edits: [
      {
        file: 'libs/engine/src/claimer.ts',
        from: 'if (claimed === 0 && ledger.isEmpty) await',
        to: 'if (claimed === 0) await',
      },
    ],
  },
  {
    name: 'others are claimed beside a job from quarantine',
    rule: '§9',
    check: '§9 alone',
    budget: 3000,
    edits: [
      {
        file: 'libs/engine/src/claim-plan.ts',
        from: "  if (situation.isAloneRunning) return { kind: 'wait', forMs: MAX_WAIT_MS };\n",
        to: '\n',
      },
    ],
  },
  {
    name: 'a due time is not waited for',
    rule: '§10',
    check: '§10 early',
    budget: 200,
    edits: [{ file: 'libs/store/src/memory/claim.ts', from: '    if (job.scheduledFor > now) break;\n', to: '\n' }],
  },
  {
    name: 'a letter leaves its outbox row',
    rule: '§12',
    check: 'G8 outbox',
    budget: 200,
    edits: [{ file: 'libs/store/src/memory/outbox.ts', from: '  db.outbox.delete(rowId);\n', to: '\n' }],
  },
  {
    name: 'the row of a death is deleted when it was sent',
    rule: '§12',
    check: '§12 letter',
    budget: 500,
    edits: [
      {
        file: 'libs/engine/src/publisher.ts',
        from: "entries.filter(({ id, kind }) => kind === 'ready' && acknowledged.has(id))",
        to: 'entries.filter(({ id }) => acknowledged.has(id))',
      },
      {
        file: 'libs/store/src/memory/outbox.ts',
        from: "    if (db.outbox.get(id)?.entry.kind === 'ready') db.outbox.delete(id);\n",
        to: '    db.outbox.delete(id);\n',
      },
    ],
  },
  {
    name: 'a claim takes jobs of queues that its worker does not serve',
    rule: '§5',
    check: '§5 queues',
    budget: 200,
    edits: [
      {
        file: 'libs/store/src/memory/claim.ts',
        from: 'if (request.queues.includes(job.queue) && isClaimable',
        to: 'if (isClaimable',
      },
    ],
  },
  {
    name: 'whoever repeats a key is told that the body is the same',
    rule: '§3',
    check: 'G1 key',
    budget: 200,
    edits: [
      {
        file: 'libs/store/src/memory/submit.ts',
        from: 'fingerprint: holder.fingerprint };',
        to: 'fingerprint: submission.fingerprint! };',
      },
    ],
  },
  {
    name: 'a run past its timeout is not told to stop',
    rule: '§6',
    check: '§6 timeout',
    budget: 200,
    edits: [
      {
        file: 'libs/engine/src/attempt-runner.ts',
        from: 'clock.setTimer(Math.min(run.job.timeoutMs, MAX_TIMER_MS), () => run.abort(',
        to: 'clock.setTimer(MAX_TIMER_MS, () => run.abort(',
      },
    ],
  },
  {
    name: 'a budget of attempts that is spent is not the end',
    rule: '§13',
    check: '§13 retry',
    budget: 200,
    edits: [{ file: 'libs/domain/src/retry-policy.ts', from: '  if (failures >= maxAttempts) return null;\n', to: '' }],
  },
  {
    name: 'a budget of attempts ends one failure early',
    rule: '§13',
    check: 'G5 death',
    budget: 200,
    edits: [
      {
        file: 'libs/domain/src/retry-policy.ts',
        from: 'if (failures >= maxAttempts) return null;',
        to: 'if (failures + 1 >= maxAttempts) return null;',
      },
    ],
  },
  {
    name: 'a backoff does not grow with the failures',
    rule: '§13',
    check: '§13 retry',
    budget: 500,
    edits: [
      {
        file: 'libs/domain/src/retry-policy.ts',
        from: 'baseMs * Math.min(factor ** (failures - 1), Number.MAX_SAFE_INTEGER)',
        to: 'baseMs',
      },
    ],
  },
  {
    name: 'a backoff has no longest',
    rule: '§13',
    check: '§13 retry',
    budget: 500,
    edits: [
      {
        file: 'libs/domain/src/retry-policy.ts',
        from: 'return Math.min(maxMs, baseMs * Math.min(factor ** (failures - 1), Number.MAX_SAFE_INTEGER));',
        to: 'return baseMs * Math.min(factor ** (failures - 1), maxMs);',
      },
    ],
  },
  {
    name: 'a snooze is as short as may be',
    rule: '§13',
    check: '§13 snooze',
    budget: 200,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: 'delayMs: Math.max(event.delayMs, limits.minSnoozeMs)',
        to: 'delayMs: Math.min(event.delayMs, limits.minSnoozeMs)',
      },
    ],
  },
  {
    name: 'what is handed in for later is due at once',
    rule: '§10',
    check: '§10 due',
    budget: 100,
    edits: [
      {
        file: 'libs/store/src/memory/submit.ts',
        from: "state: scheduledFor > now ? 'SCHEDULED' : decision.state,",
        to: 'state: decision.state,',
      },
    ],
  },
  {
    name: 'a retry of what was cancelled is said to be done and is not',
    rule: '§11',
    check: '§11 ready',
    budget: 500,
    edits: [
      {
        file: 'libs/engine/src/job-commands.ts',
        from: "if (hasLeft(job, past)) return { kind: 'ready', job };",
        to: "if (hasLeft(job, past) || job.state === 'CANCELLED') return { kind: 'ready', job };",
      },
    ],
  },
  {
    name: 'a redrive starts over a later death than that of its letter',
    rule: '§11',
    check: '§11 ready',
    budget: 3000,
    edits: [
      {
        file: 'libs/engine/src/job-commands.ts',
        from: "const isThatDeath = job.state === 'DEAD' && job.attempt === letter.attempt;",
        to: "const isThatDeath = job.state === 'DEAD';",
      },
    ],
  },
  {
    name: 'a job that waits after a failure is unknown to commands',
    rule: '§11',
    check: '§11 known',
    budget: 500,
    edits: [
      {
        file: 'libs/engine/src/job-commands.ts',
        from: "if (job === null) return { kind: 'unknown' };",
        to: "if (job === null || job.state === 'FAILED') return { kind: 'unknown' };",
      },
    ],
  },
  {
    name: 'a crash loop ends one crash late',
    rule: '§9',
    check: '§9 crashes',
    budget: 1000,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: 'const isCrashLoop = crashes >= limits.crashBudget;',
        to: 'const isCrashLoop = crashes > limits.crashBudget;',
      },
    ],
  },
  {
    name: 'a job may snooze for ever',
    rule: '§13',
    check: '§13 snooze',
    budget: 200,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: 'const isTooMany = snoozes > limits.maxSnoozes;',
        to: 'const isTooMany = false;',
      },
    ],
  },
  {
    name: 'a snooze is not counted',
    rule: '§2',
    check: '§2 counters',
    budget: 200,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: '    snoozes,\n    lapsesInRow: 0,\n',
        to: '    lapsesInRow: 0,\n',
      },
    ],
  },
  {
    name: 'a timeout does not count among the lapses in a row',
    rule: '§9',
    check: '§2 counters',
    budget: 200,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: '  const lapsesInRow = job.lapsesInRow + 1;\n',
        to: "  const lapsesInRow = job.lapsesInRow + (event.reason === 'timeout' ? 0 : 1);\n",
      },
    ],
  },
  {
    name: 'a release ends the lapses in a row',
    rule: '§9',
    check: '§2 counters',
    budget: 500,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: "return { ...unchanged(job), state: 'PENDING', due: NOW, ends: end('released', startedAfterMs, reason) };",
        to: "return { ...unchanged(job), lapsesInRow: 0, state: 'PENDING', due: NOW, ends: end('released', startedAfterMs, reason) };",
      },
    ],
  },
  {
    name: 'a retry by a person keeps the failures',
    rule: '§11',
    check: '§2 counters',
    budget: 200,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: "...NO_COUNTS, state: 'PENDING', due: NOW, cancelRequest: 'clear' };",
        to: "...NO_COUNTS, failures: job.failures, state: 'PENDING', due: NOW, cancelRequest: 'clear' };",
      },
    ],
  },
  {
    name: 'a retry by a person keeps the cancel',
    rule: '§11',
    check: '§1 cancel',
    budget: 200,
    edits: [
      {
        file: 'libs/domain/src/transition.ts',
        from: "...NO_COUNTS, state: 'PENDING', due: NOW, cancelRequest: 'clear' };",
        to: "...NO_COUNTS, state: 'PENDING', due: NOW, cancelRequest: 'keep' };",
      },
    ],
  },
  {
    name: 'a step gives another value than it remembers',
    rule: '§7',
    check: '§7 value',
    budget: 500,
    edits: [
      {
        file: 'libs/engine/src/run-steps.ts',
        from: "if (begun.kind === 'done') return begun.value;",
        to: "if (begun.kind === 'done') return 'null';",
      },
    ],
  },
  {
    name: 'the loops of the reaper turn each millisecond',
    rule: '§9',
    check: 'G9 livelock',
    budget: 50,
    edits: [
      {
        file: 'libs/engine/src/loop.ts',
        from: "const wantedMs = typeof everyMs === 'number' ? everyMs : everyMs();",
        to: "const wantedMs = typeof everyMs === 'number' ? everyMs / 1_000 : everyMs();",
      },
    ],
  },
];
