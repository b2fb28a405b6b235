// An entry of its own, `@deadman/transport/nest`: @nestjs/microservices takes a quarter of a second to load, which the api
// and a standalone process need not pay.
export { KAFKA_TICKETS, KafkaTicketContext, KafkaTicketServer, TicketsRefused } from './kafka/kafka-ticket-server.js';
export type { KafkaTicketServerOptions } from './kafka/kafka-ticket-server.js';
export { ServedTransport } from './kafka/served-transport.js';
