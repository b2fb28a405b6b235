/*
 * Who is reaped (protocol.md sections 6 and 9): one worker with one run, one reaper, and the two stores, in rounds of a beat,
 * a third of a TTL. In each round each store may be there or away, Redis may lose its memory, and the worker may stand still
 * or be cut off from Postgres. Times are ages in rounds that stop where they no longer matter, so the state space is finite, and what holds
 * here holds for any number of rounds.
 *
 * Must hold: a worker that stands, and has not given its run up itself, keeps it, with the one exception that is
 * documented: cut off from Postgres for two TTLs while the reaper cannot trust Redis and has seen no lease for a TTL. And a worker that nobody has vouched
 * for during a TTL gives its run up for good as soon as it stands.
 *
 * Variants that must fail, one rule left out of each:
 *   NO_UNBROKEN   a worker counts as silent although Postgres was not there to hear it
 *   NO_LEASE      a lease that is there saves nobody
 *   NO_TRUST      a lease that is absent counts although Redis has just lost its memory
 *   ONE_TTL       an unknown lease counts after one TTL
 *   NO_SIGHTING   a lease that was seen a moment before Redis went away is forgotten
 *   REVIVAL       a renewal after a TTL without one revives the run
 */
#define TTL 3

/* The environment of a round. */
bool postgresIsUp, redisIsUp, isCut, isFrozen, reaperIsCut;

/* Postgres: the age of the claim and of the worker's row, and the watch over itself. */
byte claimAge = 0;
byte seenAge = 0;
byte unbrokenFor = 0;
byte scanAge = 0;

/* Redis: the lease, and the trust in it. */
bool hasLease = true;
byte leaseAge = 0;
bool hasTrust = false;
byte trustedFor = 0;
byte readAge = 0;

/* The worker: the age of its last good renewal as it sees it, and as it is. */
byte vouchedAge = 0;
byte silence = 0;
bool isLost = false;
/* For how long Postgres has not heard it, and for how long that was not because Postgres was away. */
byte awayFor = 0;
byte cutFor = 0;
/* The reaper: when it last saw the lease. */
bool hasSighting = false;
byte sightingAge = 0;

inline older(age, most) {
  if :: age < most -> age++ :: else fi
}

/* Redis may lose its memory at any moment: before the worker's beat, or between it and the reaper's scan. */
inline maybeFlush() {
  if
  :: true
  :: hasLease = false; hasTrust = false
  fi
}

inline environment() {
  older(claimAge, TTL + 1);
  older(seenAge, 2 * TTL + 1);
  older(unbrokenFor, TTL);
  older(scanAge, 2);
  older(leaseAge, TTL);
  older(trustedFor, TTL);
  older(readAge, 2);
  older(vouchedAge, TTL + 1);
  older(silence, TTL + 1);
  older(sightingAge, TTL + 1);
  if :: postgresIsUp = true :: postgresIsUp = false fi;
  if :: redisIsUp = true :: redisIsUp = false fi;
  if :: isCut = true :: isCut = false fi;
  if :: isFrozen = true :: isFrozen = false fi;
  if :: reaperIsCut = true :: reaperIsCut = false fi;
  maybeFlush();
  if :: hasLease && leaseAge >= TTL -> hasLease = false :: else fi;
  if :: isCut || isFrozen || !postgresIsUp -> older(awayFor, 2 * TTL) :: else -> awayFor = 0 fi;
  if :: isCut || isFrozen -> older(cutFor, TTL) :: else -> cutFor = 0 fi
}

#ifdef REVIVAL
#define MAY_VOUCH true
#else
#define MAY_VOUCH (vouchedAge <= TTL)
#endif

inline vouch() {
  if :: MAY_VOUCH -> vouchedAge = 0 :: else fi;
  if :: silence <= TTL -> silence = 0 :: else fi
}

/* Either store vouches. A renewal that comes after a TTL without one does not count, and the run is given up. */
inline beat() {
  if :: !isCut && postgresIsUp -> seenAge = 0; vouch() :: else fi;
  if
  :: !isLost && redisIsUp -> hasLease = true; leaseAge = 0; vouch()
  :: else
  fi;
  if :: vouchedAge > TTL -> isLost = true :: else fi;
  assert(isLost || silence <= TTL)
}

#define hasRedis (redisIsUp && !reaperIsCut)

#ifdef NO_UNBROKEN
#define IS_UNBROKEN true
#else
#define IS_UNBROKEN (unbrokenFor >= TTL)
#endif
#ifdef NO_TRUST
#define IS_TRUSTED hasRedis
#else
#define IS_TRUSTED (hasRedis && hasTrust && trustedFor >= TTL)
#endif
#ifdef NO_LEASE
#define LEASE_SAVES false
#else
#define LEASE_SAVES (hasRedis && hasLease)
#endif
#ifdef ONE_TTL
#define UNKNOWN_AFTER TTL
#else
#define UNKNOWN_AFTER (2 * TTL)
#endif
#ifdef NO_SIGHTING
#define WAS_SEEN_LATELY false
#else
#define WAS_SEEN_LATELY (hasSighting && sightingAge <= TTL)
#endif

/* A gap of more than one round without a scan, or without an answer, starts the watch and the trust again. */
inline scan() {
  if
  :: hasRedis ->
     if :: !hasTrust || readAge > 1 -> hasTrust = true; trustedFor = 0 :: else fi;
     readAge = 0;
     if :: hasLease -> hasSighting = true; sightingAge = 0 :: else fi
  :: else
  fi;
  if
  :: postgresIsUp ->
     if :: scanAge > 1 -> unbrokenFor = 0 :: else fi;
     scanAge = 0
  :: else
  fi
}

#define IS_SUSPECT (postgresIsUp && claimAge > TTL && IS_UNBROKEN && seenAge > TTL && !LEASE_SAVES)
#define IS_REAPED (IS_SUSPECT && (IS_TRUSTED || (seenAge > UNKNOWN_AFTER && !WAS_SEEN_LATELY)))

/* Why a run may be taken from a worker: it gave it up, it stands still, or it did a moment ago, or the exception. */
#define IS_EXCEPTION (awayFor >= 2 * TTL && cutFor >= TTL && !IS_TRUSTED && !(hasSighting && sightingAge <= TTL))

active proctype Rounds() {
  do
  :: atomic {
       environment();
       if :: !isFrozen -> beat() :: else fi;
       maybeFlush();
       scan();
       if
       :: IS_REAPED ->
          assert(isLost || isFrozen || IS_EXCEPTION);
          break
       :: !IS_REAPED
       fi;
       /* What is chosen anew in each round is no part of what a round leaves behind. */
       postgresIsUp = false; redisIsUp = false; isCut = false; isFrozen = false;
       reaperIsCut = false
     }
  od
}
