/** What Acme's email provider answers. */
export type Answer =
  | { readonly status: 'accepted'; readonly messageId: string }
  | { readonly status: 'rate-limited'; readonly retryAfterSeconds: number }
  | { readonly status: 'rejected'; readonly why: string };

export interface Email {
  readonly to: string;
  readonly subject: string;
  readonly body: string;
}

/**
 * Stands in for a provider with an HTTP API that recognises repeated requests by their key, as most of them do. Accepts
 * everything, except that `@unknown.example` does not exist and `@busy.example` wants to be asked a second time.
 */
class EmailProvider {
  readonly #answers = new Map<string, Answer>();

  async send(
    email: Email,
    options: { readonly idempotencyKey: string; readonly signal: AbortSignal },
  ): Promise<Answer> {
    options.signal.throwIfAborted();
    const earlier = this.#answers.get(options.idempotencyKey);
    if (earlier?.status === 'accepted') return earlier;
    const answer = this.#answer(email, earlier);
    this.#answers.set(options.idempotencyKey, answer);
    return answer;
  }

  #answer({ to }: Email, earlier: Answer | undefined): Answer {
    if (to.endsWith('@unknown.example')) return { status: 'rejected', why: `${to} does not exist` };
    if (to.endsWith('@busy.example') && earlier === undefined) return { status: 'rate-limited', retryAfterSeconds: 1 };
    return { status: 'accepted', messageId: `msg-${this.#answers.size + 1}` };
  }
}

export const emailProvider = new EmailProvider();
