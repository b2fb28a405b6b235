import { defineSlice } from '../define-config.js';
import { oneOf } from '../variable.js';

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
});
