import { defineSlice } from '../define-config.js';
import { text, wholeNumber } from '../variable.js';

/** 0 lets the system choose a free one. */
export const MAX_PORT = 65_535;

export const httpSlice = defineSlice('HTTP', {
  host: text({
    name: 'HOST',
    what: 'The address that the api listens on. `0.0.0.0` opens it to the network.',
    default: '127.0.0.1',
    pattern: /^\S+$/,
    allowed: 'a host name or an address',
  }),
  port: wholeNumber({
    name: 'PORT',
    what: 'The port of the api. 0 takes any free one.',
    default: 8_080,
    min: 0,
    max: MAX_PORT,
  }),
});
