/**
 * The least that a route on Fastify can cost: it reads a JSON body and answers a small one. What the API is measured
 * against in the same run, since absolute rates say more about the machine than about the code. Prints its port.
 */
import fastify from 'fastify';

const app = fastify();
app.post('/jobs', (request, reply) => reply.code(201).send({ id: 'x', type: request.body.type, state: 'pending' }));
await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${app.server.address().port}\n`);
