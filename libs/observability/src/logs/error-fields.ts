/** How many causes below an error are followed. */
const MAX_CAUSES = 5;

/** An error as a log line has it. */
export interface ErrorFields {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly causes?: readonly { readonly name: string; readonly message: string; readonly code?: string }[];
}

/** What a line says of whatever was thrown. Never throws, not even for an error whose getters do. */
export function toErrorFields(thrown: unknown): ErrorFields {
  try {
    if (!isErrorLike(thrown)) return { name: 'NonError', message: describe(thrown) };
    const causes = causesOf(thrown).map(summary);
    return {
      ...summary(thrown),
      ...(typeof thrown.stack === 'string' ? { stack: thrown.stack } : {}),
      ...(causes.length > 0 ? { causes } : {}),
    };
  } catch {
    return { name: 'UnreadableError', message: 'The error cannot be read' };
  }
}

interface ErrorLike {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly stack?: unknown;
  readonly cause?: unknown;
  /** The chain as a list already: the domain's record of an attempt's error. */
  readonly causes?: unknown;
}

/** Errors of this and of other realms, and the plain records that the domain keeps of an attempt's error. */
function isErrorLike(thrown: unknown): thrown is ErrorLike {
  return typeof thrown === 'object' && thrown !== null && 'message' in thrown;
}

function summary({ name, message, code }: ErrorLike): { name: string; message: string; code?: string } {
  return {
    name: typeof name === 'string' ? name : 'Error',
    message: typeof message === 'string' ? message : typeof message,
    ...(typeof code === 'string' ? { code } : {}),
  };
}

/** Nearest first. A circle ends at the bound. */
function causesOf(error: ErrorLike): ErrorLike[] {
  if (Array.isArray(error.causes)) return error.causes.filter(isErrorLike).slice(0, MAX_CAUSES);
  const causes: ErrorLike[] = [];
  for (let cause = error.cause; isErrorLike(cause) && causes.length < MAX_CAUSES; cause = cause.cause)
    causes.push(cause);
  return causes;
}

function describe(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : `${typeof thrown} ${String(thrown)}`;
}
