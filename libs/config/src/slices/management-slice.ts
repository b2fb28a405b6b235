import { defineSlice } from '../define-config.js';
import type { Relation } from '../define-config.js';
import { text, wholeNumber } from '../variable.js';
import { MAX_PORT } from './http-slice.js';

export const managementSlice = defineSlice('Health and metrics', {
  host: text({
    name: 'MANAGEMENT_HOST',
    what: 'The address that health and metrics listen on. Probes of a cluster need `0.0.0.0`.',
    default: '127.0.0.1',
    pattern: /^\S+$/,
    allowed: 'a host name or an address',
  }),
  port: wholeNumber({
    name: 'MANAGEMENT_PORT',
    what: 'The port of health and metrics, of every service. 0 takes any free one.',
    default: 8_081,
    min: 0,
    max: MAX_PORT,
  }),
});

/** For a service that has both ports. */
export const DIFFERENT_PORTS: Relation<{
  readonly http: { readonly port: number };
  readonly management: { readonly port: number };
}> = {
  variables: ['PORT', 'MANAGEMENT_PORT'],
  holds: ({ http, management }) => http.port === 0 || http.port !== management.port,
  rule: 'they must differ, so that probes reach the service although the api is busy',
};
