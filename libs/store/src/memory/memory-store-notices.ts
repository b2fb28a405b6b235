import { StoreNotices } from '@deadman/domain';
import type { StoreNotice } from '@deadman/domain';
import type { MemoryDatabase } from './memory-database.js';

/** Hears the notices of a database in memory. None is lost here; callers must not count on that. */
export class MemoryStoreNotices extends StoreNotices {
  readonly #db: MemoryDatabase;

  constructor(db: MemoryDatabase) {
    super();
    this.#db = db;
  }

  override async subscribe(listener: (notice: StoreNotice) => void): Promise<{ unsubscribe(): Promise<void> }> {
    this.#db.listen(listener);
    return { unsubscribe: async () => this.#db.unlisten(listener) };
  }
}
