/** The four services, in the order in which they are started. */
export const SERVICE_NAMES = ['api', 'worker', 'reaper', 'dead-letter-consumer'] as const;

export type ServiceName = (typeof SERVICE_NAMES)[number];
