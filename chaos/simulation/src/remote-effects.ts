import { EffectStore } from '@deadman/domain';
import type {
  BegunStep,
  Effect,
  EffectReceipt,
  OpenTransaction,
  SqlResult,
  SqlStatement,
  Step,
  Submission,
} from '@deadman/domain';
import type { Network } from './network.js';
import type { Process } from './process.js';

/**
 * A worker's way to its effects. The transaction is open at the server while the handler's change runs in the worker, one
 * statement after the other over the network; whoever stands still or dies in between never commits.
 */
export class RemoteEffects extends EffectStore {
  readonly #store: EffectStore;
  readonly #network: Network;
  readonly #process: Process;
  readonly #idleAfterMs: number;

  /** @param idleAfterMs how long Postgres lets a transaction wait for its next statement. */
  constructor(store: EffectStore, network: Network, process: Process, idleAfterMs: number) {
    super();
    this.#store = store;
    this.#network = network;
    this.#process = process;
    this.#idleAfterMs = idleAfterMs;
  }

  override findEffect(jobId: string, key: string): Promise<{ readonly value: string } | null> {
    return this.#call('findEffect', [jobId, key], () => this.#store.findEffect(jobId, key));
  }

  override async commitEffect(
    effect: Effect,
    change: (transaction: OpenTransaction) => Promise<string>,
  ): Promise<EffectReceipt> {
    const { clock } = this.#process;
    await this.#call('begin', [effect], async () => undefined);
    let lastAtMs = clock.monotonicMs();
    const say = async (act: () => Promise<unknown>): Promise<void> => {
      await this.#call('statement', [effect], async () => undefined);
      lastAtMs = clock.monotonicMs();
      await act();
    };
    return new Promise((resolve, reject) => {
      let arrive: () => void = () => {};
      const hasArrived = new Promise<void>((resolveArrival) => (arrive = resolveArrival));
      const receipt = this.#store.commitEffect(effect, async (open) => {
        const value = await change(new OverTheNetwork(open, say));
        const isIdle = (): boolean => clock.monotonicMs() - lastAtMs > this.#idleAfterMs;
        const end = async (): Promise<EffectReceipt> => (isIdle() ? { kind: 'idle' } : (arrive(), receipt));
        this.#call('commit', [effect], end).then(resolve, reject);
        await hasArrived;
        return value;
      });
      // What the change throws, and what the server says without waiting for it. The rest is told by the commit's reply.
      receipt.then(({ kind }) => (kind === 'fenced' ? resolve({ kind }) : undefined), reject);
    });
  }

  override beginStep(step: Step): Promise<BegunStep> {
    return this.#call('beginStep', [step], () => this.#store.beginStep(step));
  }

  override finishStep(step: Step, value: string): Promise<'stored' | 'fenced'> {
    return this.#call('finishStep', [step, value], () => this.#store.finishStep(step, value));
  }

  #call<T>(name: string, args: readonly unknown[], act: () => Promise<T>): Promise<T> {
    return this.#network.call(this.#process, 'postgres', `postgres ${name}`, args, act);
  }
}

/** The transaction as the handler's change has it: each statement is sent, answered, and takes effect with the commit. */
class OverTheNetwork implements OpenTransaction {
  readonly #open: OpenTransaction;
  readonly #say: (act: () => Promise<unknown>) => Promise<void>;

  constructor(open: OpenTransaction, say: (act: () => Promise<unknown>) => Promise<void>) {
    this.#open = open;
    this.#say = say;
  }

  async query<Row>(statement: string | SqlStatement, values?: readonly unknown[]): Promise<SqlResult<Row>> {
    await this.#say(() => this.#open.query(statement, values));
    return { rows: [], rowCount: 1 };
  }

  async submit(batch: readonly Submission[]): Promise<void> {
    await this.#say(() => this.#open.submit(batch));
  }
}
