/** What a worker says of itself with every beat. */
export interface WorkerRecord {
  /** A uuid made anew at each start of the process. */
  readonly incarnation: string;
  /** For people: the instance's name. */
  readonly name: string;
  readonly types: readonly string[];
  readonly queues: readonly string[];
  readonly slots: number;
}

/** A job that the store believes a worker runs. */
export interface Belief {
  readonly jobId: string;
  readonly attempt: number;
  readonly token: string;
  readonly cancelRequested: boolean;
}

export interface BeatReply {
  readonly beliefs: readonly Belief[];
  /** A job of this worker's types and queues has waited in quarantine, ready, for longer than `quarantineWaitMs`. */
  readonly isQuarantineWaiting: boolean;
}

export interface BeatRequest {
  readonly worker: WorkerRecord;
  readonly quarantineFrom: number;
  readonly quarantineWaitMs: number;
}

/** Who is alive, kept beside the jobs. Throws what `JobStore` throws. */
export abstract class WorkerRegistry {
  /** Writes the worker's row, stamps it with the database's clock, and reads back what it is believed to run. */
  abstract beat(request: BeatRequest): Promise<BeatReply>;

  /** Deletes the worker's row after it has handed everything back. */
  abstract retire(incarnation: string): Promise<void>;

  /** Types that a worker seen within `withinMs` has handlers for. */
  abstract liveTypes(withinMs: number): Promise<ReadonlySet<string>>;
}
