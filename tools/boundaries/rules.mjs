/**
 * Who may import whom, by the tags in the projects' package.json: the table of "Where things live", as data. A tag that
 * is not listed here is itself a fault.
 */
const EVERY_LIB = [
  'type:domain',
  'type:engine',
  'type:sdk',
  'type:handlers',
  'type:config',
  'type:observability',
  'type:infra',
  'type:embedded',
  'type:host',
];

export const MAY_IMPORT = {
  'type:domain': [],
  'type:engine': ['type:domain'],
  'type:sdk': ['type:domain'],
  'type:handlers': ['type:domain', 'type:sdk', 'type:config', 'type:observability'],
  'type:config': ['type:domain'],
  'type:observability': ['type:domain', 'type:config'],
  'type:infra': ['type:domain', 'type:config', 'type:observability'],
  'type:embedded': [],
  // What the services' processes have in common: their start, their end, and what they hang on.
  'type:host': [
    'type:domain',
    'type:engine',
    'type:sdk',
    'type:handlers',
    'type:config',
    'type:observability',
    'type:infra',
  ],
  'type:testing': ['type:domain', 'type:infra', 'type:embedded', 'type:testing'],
  'type:chaos': ['type:domain', 'type:engine', 'type:config', 'type:infra', 'type:testing'],
  // No service imports another: they meet in Kafka topics and the database alone.
  'type:app': EVERY_LIB,
  // All roles in one process: it mounts the api.
  'type:standalone': [...EVERY_LIB, 'type:app'],
  // `e2e` and `bench`: they use the libs, and start the apps as processes instead of importing them.
  'type:outside': [...EVERY_LIB, 'type:testing'],
};

/** What specs and contract suites of every project may use on top, without declaring it. */
export const SPECS_MAY_ALSO_IMPORT = ['type:domain', 'type:testing', 'type:infra'];

/** Imports nothing at all in production, Node's own modules included. */
export const IMPORTS_NOTHING = ['type:domain'];

/**
 * Takes time, chance and ids from ports only, so that a test decides them. Imports other projects, and neither a module
 * of Node nor a package: none is needed, and hardly any could be told to hold no clock and no dice.
 */
export const PORTS_ONLY = ['type:domain', 'type:engine'];

/** Reach a driver through an adapter only. */
export const WITHOUT_DRIVERS = ['type:app', 'type:standalone'];

export const DRIVERS = ['pg', 'pg-native', 'typeorm', 'ioredis', 'redis', 'kafkajs', '@platformatic/kafka'];

/**
 * Import what is not known before they run: an app's handlers, named on its command line, and the programs of the
 * platform. Everywhere else an `import()` names its module in place, so that it can be held against the rules above.
 */
export const IMPORT_UNKNOWN = ['libs/embedded-postgres/src/binaries.ts', 'libs/handlers/src/load-handlers.ts'];

/**
 * What may be named without declaring or importing it, where time, chance and ids come from ports. It says what is
 * allowed, since nobody knows all of what is not: a clock is in an event's time stamp and a date format too, and the next
 * Node brings another. So a name that is missing here is refused, also when it is harmless: add it once it is needed, and
 * only if it neither tells the time, nor waits, nor throws dice, nor reaches the platform, nor hands out what does.
 *
 * `queueMicrotask` waits no longer than `await` does: before anything else happens, in an order that the language fixes.
 */
export const ALLOWED_GLOBALS = [
  'AbortController',
  'AggregateError',
  'Array',
  'BigInt',
  'Boolean',
  'Error',
  'Infinity',
  'JSON',
  'Map',
  'NaN',
  'Number',
  'Promise',
  'RangeError',
  'RegExp',
  'Set',
  'String',
  'Symbol',
  'TypeError',
  'WeakMap',
  'WeakSet',
  'queueMicrotask',
  'undefined',
];

/**
 * Globals that also hand out time, chance or other globals, with the members that are fine. They may be asked for those,
 * and made new from arguments, and nothing else: one that is handed on could be asked for anything. A `Date` is made from
 * one argument: a year, a month and what follows are of the machine's time zone, where `Date.UTC` is of none.
 */
export const ALLOWED_MEMBERS = {
  AbortSignal: ['abort', 'any'],
  Date: ['UTC', 'parse'],
  Math: ['PI', 'abs', 'ceil', 'exp', 'floor', 'log', 'log2', 'max', 'min', 'pow', 'round', 'sign', 'sqrt', 'trunc'],
  Object: ['assign', 'entries', 'freeze', 'fromEntries', 'hasOwn', 'is', 'isFrozen', 'keys', 'values'],
};

/**
 * Members that lead from anything at hand to what is not on those lists: a function's constructor makes code of text,
 * which sees every global, a prototype leads to constructors, the frames of a stack to the functions on it, and the event
 * that a signal hands to its listeners carries the time.
 */
const LEADING_ELSEWHERE = [
  'constructor',
  'timeStamp',
  '__proto__',
  '__lookupGetter__',
  '__lookupSetter__',
  'prepareStackTrace',
  'captureStackTrace',
];

/**
 * Members whose answer hangs on the language and the time zone of the machine, so that two processes disagree. Those with
 * `UTC` or `ISO` in their names do not; texts are compared with `<`, whose order is that of their code units everywhere.
 */
const OF_THE_MACHINE = [
  'localeCompare',
  'toLocaleString',
  'toLocaleDateString',
  'toLocaleTimeString',
  'toLocaleLowerCase',
  'toLocaleUpperCase',
  'toDateString',
  'toTimeString',
  'getTimezoneOffset',
  ...['get', 'set'].flatMap((act) =>
    ['Year', 'FullYear', 'Month', 'Date', 'Hours', 'Minutes', 'Seconds', 'Milliseconds'].map((part) => act + part),
  ),
  'getDay',
];

/** Words that no name and no text may be, with what is wrong with them. */
export const FORBIDDEN_WORDS = {
  'it leads to what is not allowed': LEADING_ELSEWHERE,
  'it hangs on the language or the time zone of the machine': OF_THE_MACHINE,
};
