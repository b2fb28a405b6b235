/*
 * The fence (protocol.md sections 2, 7 and 9): one job, workers that may stand still or die at any point, reapers that may
 * act on what they read long ago, and failovers that lose the last commits. Time is left out: a lease may lapse whenever it
 * likes, so what holds here holds whatever the clocks say.
 *
 * Must hold: only the run of the present claim settles the job or commits its effect, an ended job stays ended, and a
 * success has its effect.
 *
 * Variants that must fail, one rule left out of each:
 *   NO_TOKEN      the fence compares the attempt alone
 *   NO_FENCE      the settling write compares nothing but the state
 *   REAP_BY_ID    a reaper takes the job back by its id alone
 *   FENCE_FIRST   the fence is looked at before the effect instead of with its commit
 *   NO_NAMES      a success does not name the effects that it saw
 */
#define WORKERS 2
#define MAX_CLAIMS 4
#define MAX_FAILOVERS 2

mtype = { PENDING, RUNNING, SUCCEEDED };

/* The row as Postgres has it. `token` is unique among claims, so it also tells which claim the row is of. */
mtype state = PENDING;
byte attempt = 0;
byte token = 0;
bool hasEffect = false;

/* What the replica has. */
mtype replicaState = PENDING;
byte replicaAttempt = 0;
byte replicaToken = 0;
bool replicaHasEffect = false;

/* Claims ever made, and failovers. */
byte claims = 0;
byte failovers = 0;
/* The job has ended, and no failover has undone that. */
bool hasEnded = false;

#if defined(NO_FENCE)
#define HOLDS(a, t) (state == RUNNING)
#elif defined(NO_TOKEN)
#define HOLDS(a, t) (state == RUNNING && attempt == a)
#else
#define HOLDS(a, t) (state == RUNNING && attempt == a && token == t)
#endif

#ifdef NO_NAMES
#define EFFECT_IS_THERE true
#else
#define EFFECT_IS_THERE hasEffect
#endif

/* A run may stop between any two steps: that is a worker that is frozen, or dead. */
active [WORKERS] proctype Worker() {
  byte myAttempt, myToken;
  bool isDone;
claiming:
  atomic {
    state == PENDING && claims < MAX_CLAIMS;
    assert(!hasEnded);
    claims++;
    attempt++;
    token = claims;
    state = RUNNING;
    myAttempt = attempt;
    myToken = token;
  }
#ifdef FENCE_FIRST
  if
  :: HOLDS(myAttempt, myToken)
  :: else -> goto claiming
  fi;
#endif
  /* The effect: a stored one is not done again, and a new one commits with the fence, all at once. */
  atomic {
    if
    :: hasEffect
#ifdef FENCE_FIRST
    :: !hasEffect -> assert(state == RUNNING && token == myToken); hasEffect = true
#else
    :: !hasEffect && HOLDS(myAttempt, myToken) -> assert(state == RUNNING && token == myToken); hasEffect = true
    :: !hasEffect && !HOLDS(myAttempt, myToken) -> goto claiming
#endif
    fi;
  }
  /* The outcome, or the lack of one. */
  atomic {
    if
    :: HOLDS(myAttempt, myToken) && EFFECT_IS_THERE ->
       assert(token == myToken);
       assert(hasEffect);
       state = SUCCEEDED;
       hasEnded = true
    :: HOLDS(myAttempt, myToken) && !EFFECT_IS_THERE ->
       /* The failover lost it: the same statement releases the job. */
       state = PENDING
    :: !HOLDS(myAttempt, myToken) -> skip
    fi;
  }
  goto claiming
}

/* Reads, waits for as long as it likes, and writes behind the fence of what it read. */
active proctype Reaper() {
  byte readAttempt, readToken;
reading:
  atomic { state == RUNNING; readAttempt = attempt; readToken = token }
  atomic {
    if
#ifdef REAP_BY_ID
    :: true -> assert(!hasEnded); state = PENDING
#else
    :: HOLDS(readAttempt, readToken) -> assert(!hasEnded); state = PENDING
    :: !HOLDS(readAttempt, readToken)
#endif
    fi;
  }
  goto reading
}

/* The replica is behind by whatever it is behind, and takes over with that. */
active proctype Failover() {
  do
  :: d_step {
    failovers < MAX_FAILOVERS ->
    replicaState = state;
    replicaAttempt = attempt;
    replicaToken = token;
    replicaHasEffect = hasEffect;
    };
    d_step {
    state = replicaState;
    attempt = replicaAttempt;
    token = replicaToken;
    hasEffect = replicaHasEffect;
    hasEnded = (replicaState == SUCCEEDED);
    failovers++
    }
  od
}
