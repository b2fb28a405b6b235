import { FAULT_CODES, faultsOfProblem, PROBLEM_CODES } from './problem-page.js';
import { faultKind } from './fault.js';
import { problemKind } from './problem-table.js';
import type { ProblemCode } from './problem-table.js';

const HEAD = `# Problems

<!-- Made from the code by apps/api/src/problems/write-reference.main.ts: change the tables there, not this page. -->

Whatever goes wrong is answered as an RFC 9457 problem, \`application/problem+json\`, also what the HTTP parser refuses:

\`\`\`json
{"type":"/problems/invalid-request","title":"The request is not valid","status":400,
 "detail":"A limit is a whole number of 1 or more.","code":"invalid-request",
 "requestId":"5f0c9b1e-4a35-4f55-9be5-7a1f0f2f7c11","retryable":false,
 "errors":[{"parameter":"limit","code":"invalid-format","detail":"A limit is a whole number of 1 or more."}]}
\`\`\`

\`code\` is what a program matches on; \`type\` leads to this page's part of it on the api itself. \`retryable\` says whether
the same request may succeed later. \`errors\` has all faults at once, each with a JSON Pointer into the body, a
\`parameter\` or a \`header\`. Where faults of several statuses meet, the lowest status answers and all are listed. A list
that would grow past 1,000 entries, or 256 KiB, ends there and \`errorsOmitted\` counts the rest. 503 comes with
\`Retry-After\`, 405 with \`Allow\`, 413 with \`limitBytes\`, 409 with the job's \`state\`. 500 carries only the request id.
`;

/** The text of `docs/reference/problems.md`. */
export function problemsReference(): string {
  return `${[HEAD, table(), ...PROBLEM_CODES.map(section), faults()].join('\n')}`;
}

function table(): string {
  const rows = PROBLEM_CODES.map((code) => {
    const { status, title, retryable } = problemKind(code);
    return `| ${status} | [\`${code}\`](#${code}) | ${title} | ${retryable ? 'yes' : 'no'} |`;
  });
  return ['| status | code | title | retryable |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function section(code: ProblemCode): string {
  const { meaning, remedy } = problemKind(code);
  const names = faultsOfProblem(code).map((found) => `\`${found.code}\``);
  const listed = names.length === 0 ? [] : ['', `In \`errors\`: ${names.join(', ')}.`];
  return [`## ${code}`, '', meaning, '', remedy, ...listed, ''].join('\n');
}

function faults(): string {
  const rows = FAULT_CODES.map((code) => {
    const { problem, meaning } = faultKind(code);
    return `| \`${code}\` | ${meaning} | [\`${problem}\`](#${problem}) |`;
  });
  return ['## What `errors` can say', '', '| code | meaning | problem |', '|---|---|---|', ...rows, ''].join('\n');
}
