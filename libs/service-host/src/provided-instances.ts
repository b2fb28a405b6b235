import { DeadmanError } from '@deadman/domain';
import { jobHandlerTypeOf } from '@deadman/sdk';
import type { DiscoveryService } from '@nestjs/core';

type ProviderWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/**
 * The instances of all providers that Nest made, among which `completeHandlers` finds those decorated with `@JobHandler`.
 *
 * @throws DeadmanError `handler-invalid` for a decorated provider that has no instance of its own: one that is made anew
 * for each request or for whoever injects it.
 */
export function providedInstances(discovery: DiscoveryService): readonly object[] {
  return discovery.getProviders().flatMap((provider) => {
    assertSingleton(provider);
    const instance: unknown = provider.instance;
    return typeof instance === 'object' && instance !== null ? [instance] : [];
  });
}

function assertSingleton(provider: ProviderWrapper): void {
  if (jobHandlerTypeOf(provider.metatype) === null) return;
  if (provider.isTransient || !provider.isDependencyTreeStatic()) {
    const message = `The provider ${provider.name} handles jobs, so it has to be in the default scope and depend on nothing request-scoped`;
    throw new DeadmanError('handler-invalid', message);
  }
}
