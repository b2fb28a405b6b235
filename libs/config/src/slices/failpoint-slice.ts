import { FAILPOINTS } from '@deadman/domain';
import type { Failpoint } from '@deadman/domain';
import { z } from 'zod';
import { defineSlice } from '../define-config.js';
import { parsed } from '../variable.js';

/** What is to happen at a failpoint, and when. */
export interface FailpointOrder {
  readonly place: Failpoint;
  readonly action:
    { readonly kind: 'kill' } | { readonly kind: 'throw' } | { readonly kind: 'pause'; readonly ms: number };
  readonly when:
    | { readonly kind: 'always' }
    /** At the nth passage and at no other. */
    | { readonly kind: 'nth'; readonly nth: number }
    /** At the first passage of a process that is this old, and at no other. Milliseconds. */
    | { readonly kind: 'aged'; readonly ms: number }
    | { readonly kind: 'chance'; readonly chance: number };
}

/**
 * `place`, `place:kill`, `place:throw`, `place:pause=500`, each with `@3` for the third passage, `@0.1` for one in ten, or
 * `@2500ms` for the first passage after that time.
 */
const ORDER = new RegExp(
  `^(${FAILPOINTS.join('|')})(?::(kill|throw|pause=(\\d{1,9})))?(?:@(\\d{1,9}(?:ms)?|0?\\.\\d{1,9}))?$`,
);

const orders = z
  .string()
  .transform((raw) => raw.split(',').map((item) => item.trim()))
  .pipe(z.array(z.string().regex(ORDER)).refine((items) => new Set(items.map(placeOf)).size === items.length))
  .transform((items) => items.map(toOrder));

export const failpointSlice = defineSlice('Tests', {
  failpoint: parsed<FailpointOrder>({
    name: 'DEADMAN_FAILPOINT',
    what: 'For tests only: places at which this process is to die, stand still or meet an error. Never set it where jobs matter.',
    default: [],
    allowed: `name[:kill|:throw|:pause=ms][@count|@chance|@<age>ms], each name once, several between commas; names: ${FAILPOINTS.join(', ')}`,
    schema: orders,
  }),
});

function placeOf(item: string): string {
  return item.split(/[:@]/, 1)[0]!;
}

function toOrder(item: string): FailpointOrder {
  const [, place, action = 'kill', ms, when] = ORDER.exec(item)!;
  return { place: place as Failpoint, action: toAction(action, ms), when: toWhen(when) };
}

function toAction(action: string, ms: string | undefined): FailpointOrder['action'] {
  return ms === undefined ? { kind: action as 'kill' | 'throw' } : { kind: 'pause', ms: Number(ms) };
}

/** A number with a unit is an age, one with a point a chance, and any other a count. */
function toWhen(when: string | undefined): FailpointOrder['when'] {
  if (when === undefined) return { kind: 'always' };
  if (when.endsWith('ms')) return { kind: 'aged', ms: Number.parseInt(when, 10) };
  return when.includes('.') ? { kind: 'chance', chance: Number(when) } : { kind: 'nth', nth: Number(when) };
}
