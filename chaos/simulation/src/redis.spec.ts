import { describe, expect, it } from '@jest/globals';
import { Kernel } from './kernel.js';
import { SimulatedRedis } from './redis.js';

const TTL_MS = 5_000;
const lease = (jobId: string) => ({ jobId, workerId: 'w', attempt: 1, token: 't' });

describe('SimulatedRedis', () => {
  it('loses what it was told in its last second, keeps what came before, and is trusted by nobody', async () => {
    const kernel = new Kernel();
    const redis = new SimulatedRedis(kernel);
    await redis.leases.acquire([lease('old')], TTL_MS);
    await redis.leases.read([]);
    await kernel.run(2_000);
    await redis.leases.acquire([lease('new')], TTL_MS);
    await redis.leases.read([]);
    redis.rewind(1_000);
    expect(await redis.leases.read(['old', 'new'])).toEqual({ present: [true, false], unbrokenMs: 0 });
  });

  it('lets a lease lapse by the time it was set, not by that of the rewind', async () => {
    const kernel = new Kernel();
    const redis = new SimulatedRedis(kernel);
    await redis.leases.acquire([lease('old')], TTL_MS);
    await kernel.run(4_000);
    redis.rewind(100);
    await kernel.run(5_001);
    expect((await redis.leases.read(['old'])).present).toEqual([false]);
  });

  it('loses everything when it is emptied, wake-ups too', async () => {
    const redis = new SimulatedRedis(new Kernel());
    await redis.leases.acquire([lease('a')], TTL_MS);
    await redis.wakeUps.add([{ id: 'a', inMs: 0 }]);
    redis.empty();
    expect((await redis.leases.read(['a'])).present).toEqual([false]);
    expect(await redis.wakeUps.popDue(10)).toEqual([]);
  });
});
