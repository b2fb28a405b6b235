import type { AttemptError } from '@deadman/domain';

export function errorJson(error: AttemptError | null): string {
  if (error === null) return 'null';
  const { name, code, message, stack, causes, issues } = error;
  return JSON.stringify({ name, code, message, stack, causes, issues });
}
