export { MemoryTransport } from './memory/memory-transport.js';
export type { MemoryTransportOptions, TransportFaults } from './memory/memory-transport.js';
