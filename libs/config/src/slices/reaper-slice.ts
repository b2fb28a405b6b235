import { defineSlice } from '../define-config.js';
import { wholeNumber } from '../variable.js';

export const reaperSlice = defineSlice('Reaper', {
  scanMs: wholeNumber({
    name: 'DEADMAN_REAPER_SCAN_MS',
    what: 'Time between two scans for dead workers and due jobs. Milliseconds. Stays well below the 3 s after which a gap between scans counts as an outage.',
    default: 1_000,
    min: 50,
    max: 2_000,
  }),
  relayAgeMs: wholeNumber({
    name: 'DEADMAN_RELAY_AGE_MS',
    what: 'Age at which an outbox row that its writer has not sent is sent by the relay. Milliseconds.',
    default: 3_000,
    min: 100,
    max: 600_000,
  }),
});
