export { completeHandlers, knownTypes } from './complete-handlers.js';
export { DEMO_HANDLERS } from './demo-handlers.js';
export type { Class, Found, HandlerExport } from './handler-exports.js';
export { loadHandlers } from './load-handlers.js';
