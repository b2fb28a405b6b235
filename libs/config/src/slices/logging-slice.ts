import { defineSlice } from '../define-config.js';
import { oneOf, text } from '../variable.js';

export const loggingSlice = defineSlice('Logs', {
  level: oneOf({
    name: 'DEADMAN_LOG_LEVEL',
    what: 'The least level that is written. At `debug` every job that starts and succeeds is a line.',
    default: 'info',
    values: ['debug', 'info', 'warn', 'error', 'silent'],
  }),
  format: oneOf({
    name: 'DEADMAN_LOG_FORMAT',
    what: '`auto` writes JSON lines, and lines for people on a terminal.',
    default: 'auto',
    values: ['auto', 'json', 'pretty'],
  }),
  historyFile: text({
    name: 'DEADMAN_HISTORY_FILE',
    what: 'A file to which this process appends a JSON line for each thing that happens to a job in it: claims with their tokens, starts, outcomes, refused writes, reclaims. Each line is written at once and survives `kill -9`. For tests: it costs some microseconds a job.',
    default: null,
    pattern: /^[^\0]+$/,
    allowed: 'a path',
  }),
});
