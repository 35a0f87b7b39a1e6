import { existsSync } from 'node:fs';
import { classify } from '../../src/azure/errors.ts';
import type { Destination } from '../../src/azure/failure.ts';
import { tokenFailure } from '../../src/azure/token-failure.ts';
import { parseDocument } from '../../src/imds/document.ts';
import { longestBodyBytes } from '../../src/imds/exchange.ts';
import { aborted, failureOfDeadline, failureOfNetwork, failureOfSize } from '../../src/imds/http-failure.ts';
import { meaningOfStatus } from '../../src/imds/http-status.ts';
import type { Exit } from '../../src/sender/channel.ts';
import { goneFailure, otherVersion } from '../../src/sender/gone.ts';
import { sinks } from '../../src/sinks/registry.ts';
import type { Failure } from '../../src/sinks/sink.ts';

/** A failure code of logs, metrics and status, with its message. */
export interface CodeMeaning {
  readonly code: string;
  /** Who has to act: see the page. Empty for the metadata service, which is asked again whatever it says. */
  readonly cause: string;
  readonly message: string;
}

const destination: Destination = {
  name: 'the destination',
  host: 'x.example',
  addressKey: 'its address in the configuration',
  proxy: null,
  sender: 'the identity of this VM',
  grant: 'it the role',
  whatToCheck: 'its name',
};

const networkErrors: readonly object[] = [
  ...[
    'ECONNREFUSED ECONNRESET ETIMEDOUT ENETUNREACH ENOTFOUND EAI_AGAIN REQUEST_SEND_ERROR PARSE_ERROR',
    'ANSWER_TOO_LONG SELF_SIGNED_CERT_IN_CHAIN CERT_HAS_EXPIRED ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER EACCES EPERM',
  ]
    .join(' ')
    .split(' ')
    .map((code) => ({ code })),
  { message: 'Proxy response (403) !== 200 when HTTP Tunneling' },
  { message: 'WebSocket refused (HTTP 400)' },
  { name: 'AbortError', message: '' },
  { message: '…' },
];
const tokenStatuses = [null, 400, 403, 404, 410, 429, 500, 418];

const toRow = ({ code, cause, reason }: Failure): CodeMeaning => ({ code, cause, message: reason });

const exit: Exit = { code: 1, signal: null, stderr: '', notStarted: null };
const limits = { does: 'sends to the event hub vm-lifecycle', hungSeconds: 15, memoryMegabytes: 128 };
/** Of the process that sends to one destination, or fetches tokens. */
const senderCodes: readonly CodeMeaning[] = [
  toRow(goneFailure(exit, null, limits)),
  toRow(goneFailure(exit, 'hung', limits)),
  toRow(goneFailure(exit, 'memory', limits)),
  toRow(goneFailure({ ...exit, notStarted: new Error('…') }, null, limits)),
  toRow(goneFailure({ ...exit, stderr: otherVersion('…', '…') }, null, limits)),
  { code: 'sender-threw', cause: 'transient', message: 'Internal error in the process that sends: please report it.' },
];

/** What our own deadlines, and the sinks themselves, say: these are made where they happen. */
const ownCodes: readonly CodeMeaning[] = [
  ...(['token', 'connect', 'send', 'upload', 'check', 'close'] as const).map((operation) => ({
    code: `${operation}-timeout`,
    cause: 'transient',
    message: `No answer within our own deadline (${operation}); retrying. If this continues, check for a firewall in between.`,
  })),
  ...senderCodes,
];

/** What only one sink answers, by its label: each sink lists it in the `failures.ts` of its folder. */
export const sinkFailures: ReadonlyMap<string, readonly CodeMeaning[]> = new Map(
  (
    await Promise.all(
      sinks.map(async ({ label, name }) => {
        const file = new URL(`../../src/sinks/${name}/failures.ts`, import.meta.url);
        if (!existsSync(file)) return null;
        const { failures }: { failures: readonly Failure[] } = await import(file.href);
        return [label, unique(failures.map(toRow))] as const;
      }),
    )
  ).filter((entry) => entry !== null),
);

/** The codes that any sink may answer: of the network, of tokens, of our own deadlines and of sender processes, each once. */
export function commonFailures(): readonly CodeMeaning[] {
  const azure = { name: '169.254.169.254', isOfAzure: true };
  const elsewhere = { name: 'http://127.0.0.1:8080', isOfAzure: false };
  const proxied = { ...destination, proxy: 'proxy:3128' };
  return unique([
    ...networkErrors.map((error) => toRow(classify(error, destination))),
    toRow(classify({ code: 'ECONNREFUSED' }, proxied)),
    ...tokenStatuses.map((status) =>
      toRow(tokenFailure({ status, retryAfterMs: null, message: '' }, { clientId: null, endpoint: azure })),
    ),
    toRow(tokenFailure({ status: 404, retryAfterMs: null, message: '' }, { clientId: null, endpoint: elsewhere })),
    ...ownCodes,
  ]);
}

const origin = 'http://169.254.169.254';
const imdsErrors =
  'ECONNREFUSED ECONNRESET EHOSTUNREACH ENOTFOUND ETIMEDOUT UND_ERR_HEADERS_OVERFLOW UND_ERR_RES_CONTENT_LENGTH_MISMATCH E_OTHER'.split(
    ' ',
  );
const imdsStatuses = [
  204, 301, 302, 303, 307, 308, 300, 304, 400, 401, 403, 404, 405, 407, 408, 410, 418, 429, 500, 502, 503, 504, 508,
];
const tooMany = `{"Events":[${Array(1_001).fill('{}')}]}`;
const noDocuments = ['', '{"Events":[', 'oops', '['.repeat(1_001), '[]', '{"Events":1}', tooMany, '{"Events":[]}'];

/** The codes of a look at the metadata service that brought no document, each once. */
export function imdsFailures(): readonly CodeMeaning[] {
  const row = ({ code, reason }: { readonly code: string; readonly reason: string }): CodeMeaning => ({
    code,
    cause: '',
    message: reason,
  });
  return unique([
    ...imdsErrors.map((code) =>
      row(failureOfNetwork(Object.assign(new Error('…'), { code }), { origin, hasBegun: false })),
    ),
    row(failureOfDeadline(10_000, { origin, isSent: true, hasBegun: false })),
    row(failureOfSize(longestBodyBytes)),
    row(aborted),
    ...imdsStatuses.map((status) =>
      row(meaningOfStatus(status, { body: '', location: null, apiVersion: '2020-07-01' })),
    ),
    ...noDocuments.flatMap((body) => {
      const parsed = parseDocument(body, '2020-07-01');
      return parsed.kind === 'unavailable' ? [row(parsed)] : [];
    }),
    ...[parseDocument('…', '2020-07-01', false)].flatMap((parsed) =>
      parsed.kind === 'unavailable' ? [row(parsed)] : [],
    ),
    {
      code: 'unreachable',
      cause: '',
      message: 'With imds.endpoint "auto": neither the link-local address nor one of DHCP option 245 can be reached.',
    },
    {
      code: 'no-identity',
      cause: '',
      message:
        'The instance metadata names no vmId or no name for this VM: set observer.vmId and observer.vmName if the endpoint is not that of Azure.',
    },
  ]);
}

function unique(rows: readonly CodeMeaning[]): readonly CodeMeaning[] {
  const byCode = new Map<string, CodeMeaning>();
  for (const row of rows) if (!byCode.has(row.code)) byCode.set(row.code, row);
  return [...byCode.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
}
