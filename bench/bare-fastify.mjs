/**
 * What the API is measured against in the same run, since absolute rates say more about the machine than about the code.
 * Two routes on a bare Fastify:
 *
 * `/jobs`     does what any JSON route has to: reads the body, checks it by a schema, answers a body of the API's size.
 * `/trivial`  reads a body and answers four words. No service is that; it shows what the machine can do.
 *
 * Prints its port.
 */
import fastify from 'fastify';
import { z } from 'zod';

const Job = z.strictObject({
  type: z.string().max(128),
  payload: z.unknown(),
  queue: z.string().optional(),
  maxAttempts: z.int().min(1).optional(),
  timeoutSeconds: z.int().min(1).optional(),
  delaySeconds: z.int().min(0).optional(),
  tags: z.array(z.string()).max(20).optional(),
});

const app = fastify();
app.post('/jobs', (request, reply) => {
  const { type, payload } = Job.parse(request.body);
  const at = new Date().toISOString();
  return reply
    .code(201)
    .header('location', '/jobs/x')
    .header('cache-control', 'no-store')
    .send({
      id: '00000000-0000-7000-8000-000000000000',
      type,
      queue: 'default',
      state: 'pending',
      version: 1,
      payload,
      result: null,
      attempt: 0,
      failures: 0,
      lapses: 0,
      maxAttempts: 5,
      retry: { kind: 'exponential', baseSeconds: 2, factor: 2, maxSeconds: 600, jitter: 'full' },
      timeoutSeconds: 900,
      createdAt: at,
      scheduledFor: at,
      startedAt: null,
      finishedAt: null,
      lease: null,
      cancelRequestedAt: null,
      lastError: null,
      progress: null,
      idempotencyKey: null,
      tags: [],
    });
});
app.post('/trivial', (request, reply) => reply.code(201).send({ type: request.body.type }));
await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${app.server.address().port}\n`);
