/** What has to be closed at the end, in the reverse order of its opening. */
export class Teardown {
  readonly #steps: { readonly name: string; readonly close: () => Promise<void> }[] = [];
  readonly #onError: (name: string, error: unknown) => void;

  constructor(onError: (name: string, error: unknown) => void) {
    this.#onError = onError;
  }

  add(name: string, close: () => Promise<void>): void {
    this.#steps.push({ name, close });
  }

  /** Closes everything that is still open, one after the other. A step that fails is told and stops none of the others. */
  async run(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      const { name, close } = step;
      await close().catch((error: unknown) => this.#onError(name, error));
    }
  }
}
