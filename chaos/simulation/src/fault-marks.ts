import { ROLES } from './deployment.js';
import type { Role } from './deployment.js';
import { SERVERS } from './fault-plan.js';
import type { FaultKind, NetworkFaults, OutageManner, ServerName } from './fault-plan.js';

/** What takes a server away. */
export type Absence = Extract<FaultKind, 'outage' | 'blackout' | 'failover'>;

/** A server that is away met a request. */
export function absenceMark(by: Absence, server: ServerName, manner: OutageManner): string {
  return `${by}: a request ${manner === 'refuses' ? 'refused' : 'not answered'} by ${server}`;
}

/** What cuts a process off from a server. */
export type Severance = Extract<FaultKind, 'cut' | 'freeze'>;

/** A cut kept a request from a server. */
export function cutMark(by: Severance, server: ServerName): string {
  return `${by}: a request kept from ${server}`;
}

/** A reply was under way when its server went away. */
export function lostReplyMark(by: Absence): string {
  return `${by}: a reply lost with its server`;
}

/** A server was away for a second or more. */
export function longAbsenceMark(by: Absence): string {
  return `${by}: away for seconds`;
}

/** What makes a process stand still. */
export type Standstill = Extract<FaultKind, 'freeze' | 'block'>;

/** It took longer than a lease holds. */
export function longStandstillMark(by: Standstill): string {
  return `${by}: longer than a lease`;
}

/** Whom it befell. */
export function befellMark(what: Extract<FaultKind, 'kill' | 'freeze'>, role: Role): string {
  return `${what}: befell the ${role}`;
}

/** Scans that pass over rows which others hold. */
export const SCANS = ['a lapse', 'an idle claim', 'a promotion', 'the relay'] as const;
export type Scan = (typeof SCANS)[number];

export function lockMark(scan: Scan): string {
  return `rowLocked: a row passed over by ${scan}`;
}

/**
 * What is counted where a fault took effect, for each kind of fault: leases that are gone, a partition that moved, a request
 * that was carried out twice. A run of a thousand is green only when all of them came about, so that a fault that does
 * nothing cannot go unseen. A kind without a mark does not compile.
 */
export const FAULT_MARKS: Record<FaultKind, readonly string[]> = {
  kill: ['kill: a run ended', ...ROLES.map((role) => befellMark('kill', role))],
  freeze: [
    'freeze: an event held up',
    longStandstillMark('freeze'),
    cutMark('freeze', 'postgres'),
    ...ROLES.map((role) => befellMark('freeze', role)),
  ],
  block: ['block: an event held up', longStandstillMark('block'), 'block: a heart beat on'],
  restart: ['restart: ended when told to', 'restart: a run handed back'],
  outage: [
    ...SERVERS.flatMap((server) => [absenceMark('outage', server, 'refuses'), absenceMark('outage', server, 'silent')]),
    lostReplyMark('outage'),
    longAbsenceMark('outage'),
    'outage: a lease lost',
    'outage: a message lost',
  ],
  blackout: [
    absenceMark('blackout', 'postgres', 'refuses'),
    absenceMark('blackout', 'redis', 'refuses'),
    longAbsenceMark('blackout'),
    'blackout: Postgres back before Redis',
  ],
  cut: SERVERS.map((server) => cutMark('cut', server)),
  'redis-flush': ['redis-flush: a lease lost'],
  'redis-rewind': ['redis-rewind: a write lost'],
  'kafka-wipe': ['kafka-wipe: a message lost'],
  rebalance: ['rebalance: a partition moved', 'rebalance: a ticket to be told again'],
  failover: [
    absenceMark('failover', 'postgres', 'refuses'),
    longAbsenceMark('failover'),
    'failover: a commit lost',
    'failover: the clock set back',
    'failover: the clock set ahead',
  ],
};

/** The same for what the network does to single messages. */
export const NETWORK_MARKS: Record<keyof NetworkFaults, readonly string[]> = {
  requestLost: ['requestLost: never arrived', 'requestLost: a word without an answer lost'],
  replyLost: ['replyLost: carried out and never heard of'],
  requestDelayed: [
    'requestDelayed: carried out after its sender was told it failed',
    'requestDelayed: carried out seconds later',
  ],
  requestDoubled: ['requestDoubled: carried out twice'],
  senderKilled: ['senderKilled: dead once it was carried out'],
  statementRefused: ['statementRefused: broken off'],
  rowLocked: SCANS.map(lockMark),
};

/** And for wrong wall clocks. */
export const SKEW_MARK = 'skew: a run begun on a clock that is off';

/** All of them. */
export const MARKS: readonly string[] = [
  ...Object.values(FAULT_MARKS).flat(),
  ...Object.values(NETWORK_MARKS).flat(),
  SKEW_MARK,
];
