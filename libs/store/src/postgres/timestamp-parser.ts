import { types } from 'pg';

/** The object id of `timestamptz` in every PostgreSQL. */
const TIMESTAMPTZ = 1184;

/** What a session whose time zone is UTC writes for the years 1 to 9999. */
const COMMON = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/;

type TypeParsers = Pick<typeof types, 'getTypeParser'>;

/**
 * The driver's parsers, with a fast one for instants: a claimed job has five of them, and taking each apart by hand costs
 * more than all the rest of its row.
 */
export const TYPE_PARSERS: TypeParsers = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === TIMESTAMPTZ && format !== 'binary'
      ? parseInstant
      : types.getTypeParser(oid, format as 'text')) as TypeParsers['getTypeParser'],
};

const parseAny = types.getTypeParser(TIMESTAMPTZ, 'text') as (text: string) => Date;

/** The latest text and its milliseconds: what one statement stamps, it stamps with one instant. */
let latest: { readonly text: string; readonly ms: number } | null = null;

/** Each row has a `Date` of its own, since a `Date` can be changed. */
function parseInstant(text: string): Date {
  if (text === latest?.text) return new Date(latest.ms);
  if (!COMMON.test(text)) return parseAny(text);
  const at = new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`);
  latest = { text, ms: at.getTime() };
  return at;
}
