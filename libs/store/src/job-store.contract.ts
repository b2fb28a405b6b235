import { afterEach, beforeEach, describe } from '@jest/globals';
import { applyContract } from './contract/apply.contract.js';
import { claimContract } from './contract/claim.contract.js';
import { listsContract } from './contract/lists.contract.js';
import type { OpenStore, StoreUnderTest } from './contract/store-under-test.contract.js';
import { submitContract } from './contract/submit.contract.js';
import { upkeepContract } from './contract/upkeep.contract.js';

/** What every `JobStore` promises. Each test begins with an empty store. */
export function jobStoreContract(name: string, open: OpenStore): void {
  describe(`${name} as a JobStore`, () => {
    let under: StoreUnderTest;
    const given = (): StoreUnderTest => under;

    beforeEach(async () => {
      under = await open();
    });
    afterEach(() => under.close());

    submitContract(given);
    claimContract(given);
    applyContract(given);
    upkeepContract(given);
    listsContract(given);
  });
}
