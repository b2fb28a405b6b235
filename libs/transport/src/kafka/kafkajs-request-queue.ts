import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * kafkajs 2.2.4 looks once a millisecond, on every connection and for ever, whether requests wait that it holds back: its
 * timer is set to a negative delay when there are none. That is 3 % of a core per connection, idle, and Node's
 * `TimeoutNegativeWarning` (its issues #1556, #1704, #1751; mended nowhere in a release). With none waiting there is nothing
 * to look for: whoever holds a request back sets the timer anew.
 */
const schedule = RequestQueue.prototype.scheduleCheckPendingRequests;

RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.pending.length > 0) schedule.call(this);
};
