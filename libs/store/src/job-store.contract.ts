import { afterEach, beforeEach, describe } from '@jest/globals';
import { applyContract } from './contract/apply.contract.js';
import { claimContract } from './contract/claim.contract.js';
import { effectsContract } from './contract/effects.contract.js';
import { listsContract } from './contract/lists.contract.js';
import type { OpenStore, StoreUnderTest } from './contract/store-under-test.contract.js';
import { submitContract } from './contract/submit.contract.js';
import { upkeepContract } from './contract/upkeep.contract.js';

/** What every `JobStore` promises. Each test begins with an empty store. */
export function jobStoreContract(name: string, open: OpenStore): void {
  describe(`${name} as a JobStore`, () => {
    const given = opened(open);
    submitContract(given);
    claimContract(given);
    applyContract(given);
    upkeepContract(given);
    listsContract(given);
  });
}

/** What every `EffectStore` promises, beside the `JobStore` on the same database. */
export function effectStoreContract(name: string, open: OpenStore): void {
  describe(`${name} as an EffectStore`, () => {
    effectsContract(opened(open));
  });
}

function opened(open: OpenStore): () => StoreUnderTest {
  let under: StoreUnderTest;
  beforeEach(async () => {
    under = await open();
  });
  afterEach(() => under.close());
  return () => under;
}
