export { SystemClock } from './system/system-clock.js';
export type { SystemClockOptions } from './system/system-clock.js';
export { SystemIds } from './system/system-ids.js';
export { SystemRandom } from './system/system-random.js';
