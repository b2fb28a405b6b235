import { defineSlice } from '../define-config.js';
import { REQUIRED, secretUrl } from '../variable.js';

const URL_OF_REDIS = {
  name: 'REDIS_URL',
  what: 'Where Redis is, which keeps leases and wake-ups. Standalone keeps them in memory when this is absent.',
  schemes: ['redis', 'rediss'],
} as const;

export const redisSlice = defineSlice('Redis', { url: secretUrl({ ...URL_OF_REDIS, default: REQUIRED }) });

/** For standalone: no URL means leases in memory. */
export const optionalRedisSlice = defineSlice('Redis', { url: secretUrl({ ...URL_OF_REDIS, default: null }) });
