/**
 * Why a server ended at once.
 *
 * `earlier-server`  one before it has not quite gone.
 * `no-socket`       its file system can hold no Unix socket, or lets it make none.
 * `port-taken`      somebody else listens on its port.
 */
export type StartFault = 'earlier-server' | 'no-socket' | 'port-taken' | 'other';

/** The server's words, of releases 15 to 18. */
const WORDS: readonly (readonly [RegExp, StartFault])[] = [
  [/lock file "postmaster\.pid" already exists|is still in use/, 'earlier-server'],
  [/could not create any Unix-domain sockets|could not .*\.s\.PGSQL\./, 'no-socket'],
  [/could not bind IPv4 address|could not create any TCP\/IP sockets/, 'port-taken'],
];

/** @param said what the server wrote until it ended. */
export function startFaultIn(said: string): StartFault {
  return WORDS.find(([words]) => words.test(said))?.[1] ?? 'other';
}
