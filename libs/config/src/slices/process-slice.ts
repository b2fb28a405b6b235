import { defineSlice } from '../define-config.js';
import { oneOf, text } from '../variable.js';

export const processSlice = defineSlice('Process', {
  environment: oneOf({
    name: 'NODE_ENV',
    what: 'Production unless said otherwise, so that nothing is relaxed by forgetting.',
    default: 'production',
    values: ['production', 'development', 'test'],
  }),
  instance: text({
    name: 'DEADMAN_INSTANCE',
    what: "This process's name in logs, health and the list of workers. Made from the host's name and the process id when absent.",
    default: null,
    pattern: /^[\w.:-]{1,128}$/,
    allowed: 'at most 128 letters, digits and . _ : -',
  }),
  dataDir: text({
    name: 'DEADMAN_DATA_DIR',
    what: 'The folder of the embedded PostgreSQL, the local stack and their logs.',
    default: '.deadman',
    pattern: /^[^\0]+$/,
    allowed: 'a path',
  }),
});
