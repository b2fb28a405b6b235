import 'reflect-metadata';
import { completeHandlers } from '@deadman/handlers';
import { JobHandler } from '@deadman/sdk';
import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, Scope } from '@nestjs/common';
import type { Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, NestFactory } from '@nestjs/core';
import { providedInstances } from './provided-instances.js';

@Injectable()
class Greeter {
  greet(): string {
    return 'hello';
  }
}

@JobHandler('greet')
@Injectable()
class GreetHandler {
  readonly #greeter: Greeter;

  constructor(greeter: Greeter) {
    this.#greeter = greeter;
  }

  run(): string {
    return this.#greeter.greet();
  }
}

async function instancesOf(team: Type): Promise<readonly object[]> {
  @Module({ imports: [DiscoveryModule, team] })
  class Root {}
  const app = await NestFactory.createApplicationContext(Root, { logger: false });
  try {
    return providedInstances(app.get(DiscoveryService));
  } finally {
    await app.close();
  }
}

describe('providedInstances', () => {
  it('finds a decorated provider with what Nest injected into it', async () => {
    @Module({ providers: [Greeter, GreetHandler] })
    class TeamModule {}
    const handlers = completeHandlers([], await instancesOf(TeamModule));
    const greet = handlers.find(({ value }) => value.type === 'greet');
    expect(greet?.place).toBe('provider GreetHandler');
    expect(await greet?.value.run({} as never)).toBe('hello');
  });

  it.each([Scope.REQUEST, Scope.TRANSIENT])('refuses a decorated provider of scope %d', async (scope) => {
    @JobHandler('scoped')
    @Injectable({ scope })
    class Scoped {
      run(): null {
        return null;
      }
    }
    @Module({ providers: [Scoped] })
    class TeamModule {}
    await expect(instancesOf(TeamModule)).rejects.toMatchObject({
      code: 'handler-invalid',
      message: expect.stringContaining('The provider Scoped handles jobs'),
    });
  });
});
