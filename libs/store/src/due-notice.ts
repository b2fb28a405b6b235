/**
 * A submit whose job is due within this time sends a notice, since the promoter's next scan may come too late for it.
 * Milliseconds: the period of that scan (`protocol.md` §10).
 */
export const DUE_NOTICE_MS = 1_000;
