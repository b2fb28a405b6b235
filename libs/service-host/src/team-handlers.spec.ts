import { defineJob } from '@deadman/sdk';
import { describe, expect, it } from '@jest/globals';
import { loadTeamHandlers, registerHandlers } from './team-handlers.js';

const loaded = (type: string) =>
  ({ kind: 'handler', value: defineJob({ type, run: () => null }), place: 'team.js, export job' }) as const;

describe('handlers', () => {
  it('are the built-in ones when the configuration names none', async () => {
    const registry = await registerHandlers(await loadTeamHandlers(null, '/'), () => []);
    expect(registry.types()).toEqual(['demo.echo', 'demo.sleep', 'demo.fail', 'demo.countdown']);
  });

  it('of a team are registered beside those', async () => {
    const registry = await registerHandlers([loaded('email.send')], () => []);
    expect(registry.find('email.send')?.type).toBe('email.send');
  });

  it('refuse a type that no job can have, as a fault of the configuration, and say where it stands', async () => {
    await expect(registerHandlers([loaded('Email Send')], () => [])).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringMatching(/^team\.js, export job: .*Email Send/),
    });
  });

  it('refuse what cannot be found in the same way', async () => {
    await expect(loadTeamHandlers('./nowhere', '/')).rejects.toMatchObject({ exitCode: 78 });
  });
});
