import { faultKind, FAULTS } from './fault.js';
import type { FaultCode } from './fault.js';
import { problemKind, PROBLEMS } from './problem-table.js';
import type { ProblemCode } from './problem-table.js';

export const PROBLEM_CODES = Object.keys(PROBLEMS) as readonly ProblemCode[];
export const FAULT_CODES = Object.keys(FAULTS) as readonly FaultCode[];

/** What `/problems/{code}` says to a program. */
export function problemJson(code: ProblemCode): string {
  const { status, title, retryable, meaning, remedy } = problemKind(code);
  return JSON.stringify({
    code,
    type: `/problems/${code}`,
    title,
    status,
    retryable,
    meaning,
    remedy,
    errors: faultsOfProblem(code),
  });
}

/** What a request's `errors` can say beside this problem. */
export function faultsOfProblem(code: ProblemCode): readonly { code: FaultCode; meaning: string }[] {
  return FAULT_CODES.filter((name) => faultKind(name).problem === code).map((name) => ({
    code: name,
    meaning: faultKind(name).meaning,
  }));
}

/** What `/problems/{code}` says to a person. */
export function problemPage(code: ProblemCode): string {
  const { status, title, retryable, meaning, remedy } = problemKind(code);
  const faults = faultsOfProblem(code)
    .map((found) => `<dt><code>${found.code}</code></dt><dd>${toHtml(found.meaning)}</dd>`)
    .join('');
  return page(
    title,
    `<h1>${toHtml(title)}</h1><p><code>${code}</code>, status ${status}, ${retryable ? 'may succeed when repeated' : 'does not succeed by repeating'}.</p>` +
      `<h2>Why</h2><p>${toHtml(meaning)}</p><h2>What to do</h2><p>${toHtml(remedy)}</p>` +
      (faults === '' ? '' : `<h2>What <code>errors</code> can say</h2><dl>${faults}</dl>`) +
      '<p><a href="/problems">All problems</a></p>',
  );
}

/** What `/problems` says to a person. */
export function problemsPage(): string {
  const rows = PROBLEM_CODES.map((code) => {
    const { status, title } = problemKind(code);
    return `<tr><td>${status}</td><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${toHtml(title)}</td></tr>`;
  });
  return page('Problems', `<h1>Problems</h1><table>${rows.join('')}</table>`);
}

/** Text of the table, where backticks mark code. */
function toHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replaceAll(/`([^`]*)`/g, '<code>$1</code>');
}

function page(title: string, body: string): string {
  const style =
    'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}td{padding:.2rem 1rem .2rem 0}';
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${toHtml(title)}</title><style>${style}</style>${body}</html>`;
}
