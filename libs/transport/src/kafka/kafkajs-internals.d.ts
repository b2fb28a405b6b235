/** The one part of kafkajs 2.2.4 that is touched from outside; see `kafkajs-request-queue.ts`. */
declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    constructor(options: {
      readonly requestTimeout: number;
      readonly enforceRequestTimeout: boolean;
      readonly clientId: string;
      readonly broker: string;
      readonly logger: { namespace(name: string): object };
    });

    /** Requests that wait because the broker throttles us, or too many are under way. */
    readonly pending: object[];
    readonly throttleCheckTimeoutId: NodeJS.Timeout | null;
    scheduleCheckPendingRequests: (this: RequestQueue) => void;
    destroy(): void;
  }
}
