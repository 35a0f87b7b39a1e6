import type { Command } from 'commander';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { createProgram } from '../../src/cli/program.ts';
import { environmentName, environmentPrefix } from '../../src/config/options.ts';
import { options } from '../../src/config.ts';
import { healthRoutes } from '../../src/health/health.ts';
import { metricFamilies } from '../../src/health/metric-families.ts';
import { deliveryLatency } from '../../src/health/sink-metrics.ts';
import { approvalEvidence, endEvidence, phases, stepEvidence } from '../../src/lifecycle/record.ts';
import { linux, windows } from '../../src/operating-system.ts';
import { columnOf } from '../../src/sinks/log-analytics/encode.ts';
import { type CodeMeaning, commonFailures, imdsFailures, sinkFailures } from './failures.ts';
import { evidenceMeanings, otherVariables, phaseMeanings } from './meanings.ts';
import { callsOf, type SourceText, sentenceOf } from './sentences.ts';

/** What the page is made of beside the code that it imports. */
export interface PageSources {
  /** `src/**` by path: the sentences are found in it. */
  readonly code: SourceText;
  /** `bicep/schema/columns.json`. */
  readonly tables: Readonly<Record<string, readonly Column[]>>;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

/** Everything that the bridge accepts, prints and exits with, as pages of Markdown by file name. */
export function referencePages({ code, tables }: PageSources): ReadonlyMap<string, string> {
  const said = new Map([...code].filter(([path]) => !path.startsWith('src/azure-simulator/')));
  const routes = Object.entries(healthRoutes).map(([path, text]) => [`\`${path}\``, text]);
  return new Map([
    [
      'commands.md',
      page(
        'Commands, exit codes and environment variables',
        section('Exit codes', exitCodeTable()),
        section('Commands', commands()),
        section('Environment variables', variables()),
      ),
    ],
    [
      'metrics.md',
      page(
        'Local HTTP and metrics',
        section('Local HTTP', httpText, table(['path', 'answer'], routes)),
        section('Metrics', metricsText, metrics()),
      ),
    ],
    [
      'failures.md',
      page(
        'Failure codes',
        'The codes in log lines, metrics, `status` and `check`.',
        section('Failures of any destination', failuresText, failures(commonFailures())),
        ...[...sinkFailures].map(([label, rows]) => section(`Failures of ${label}`, failures(rows))),
        section('Failures of the metadata service (IMDS)', imdsText, failures(imdsFailures())),
      ),
    ],
    [
      'records.md',
      page(
        'Fields of records and heartbeats',
        section('Phases and evidence', recordText, phaseTable(), evidenceTable()),
        section('Fields of a record', fieldsText, columns(tables.VmLifecycle_CL ?? [], recordField)),
        section('Fields of a heartbeat', heartbeatText, columns(tables.VmLifecycleBridge_CL ?? [], camelCase)),
      ),
    ],
    [
      'messages.md',
      page(
        'Messages',
        'Variable parts are shown between ‹ and ›.',
        section('Errors of commands', failTable(said)),
        section('Log', logText, logTable(said)),
        section('Commands in messages, by operating system', systemsText, systemsTable()),
      ),
    ],
  ]);
}

const page = (title: string, ...parts: readonly string[]): string =>
  `${[`# ${title}`, 'Generated from the code: `UPDATE=1 npm run test:unit -- test/infra/reference` updates it.', ...parts].join('\n\n')}\n`;

const httpText =
  'On 127.0.0.1 at `http.port`; 0 = off. GET and HEAD only; a Host header other than 127.0.0.1 or localhost with that port is refused with 421.';
const metricsText =
  'At `/metrics`, if `http.port` is set. Times are in seconds, sizes in bytes. No label contains an event, a record or a VM.';
const failuresText = `The \`class\` shows who has to act:

- *transient*, *throttled*: no action needed; the bridge retries, after a longer pause for *throttled*.
- *configuration*: operator action required; the records are kept until you fix it.
- *too-large*, *poison*: no action needed; the bridge splits the batch.

A record that is refused even when it is sent alone becomes a dead letter (\`outbox list\`) once another record was delivered. Until then, the destination
counts as failing, and the bridge retries the record at most every five minutes. A record also becomes a dead letter if it was refused for a day while no
record of another event was refused. The names in the sentences are examples.`;
const imdsText =
  'These codes explain why a poll had no valid document. Such a poll never ends an event, and the bridge polls again after a short pause.';
const recordText =
  'Completed, Canceled and Ended all mean that you can recover. A test record (`emit-test`) has no evidence.';
const fieldsText =
  'The columns of `VmLifecycle_CL`, each with its field in the JSON on Event Hubs, where an unknown value is null.';
const heartbeatText =
  'The columns of `VmLifecycleBridge_CL`, each with its field in the JSON on Event Hubs (`heartbeat.eventHubs`).';
const logText =
  'The log is one JSON object per line on stderr. `info` needs no action; `warn` and `error` do if they persist.';

const systemsText =
  'Messages name the command for the system on which they are printed. Those for Windows are for PowerShell, run as administrator. `PATH`, `HOST` and `URL` are filled in.';

const section = (title: string, ...parts: readonly string[]): string => [`## ${title}`, ...parts].join('\n\n');

const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ');

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((line) => `| ${line.map(cell).join(' | ')} |`).join('\n');
}

/** What differs between the operating systems, with placeholders for what is filled in. */
function systemsTable(): string {
  const fields = Object.keys(linux) as readonly (keyof typeof linux)[];
  const filled = [linux, windows].map((system) => ({
    ...system,
    suspended: `${system.suspended.causes}; ${system.suspended.resume}`,
    bridge: system.bridge('…'),
    showFreeSpace: system.showFreeSpace('PATH'),
    showAccess: system.showAccess('PATH'),
    removeFile: system.removeFile('PATH'),
    probePort: system.probePort('HOST', 443),
    showCertificate: system.showCertificate('HOST', 443),
    askMetadata: system.askMetadata('URL'),
    secretFile: system.secretFile('FILE'),
  }));
  const rows = fields
    .filter((field) => field !== 'name' && field !== 'prompt')
    .map((field) => [
      field.replace(/([A-Z])/g, ' $1').toLowerCase(),
      ...filled.map((system) => `\`${system[field]}\``),
    ]);
  return table(['‹part›', linux.name, windows.name], rows);
}

function exitCodeTable(): string {
  const rows = Object.values(exitCodes)
    .toSorted((a, b) => a.code - b.code)
    .map(({ code, meaning }) => [String(code), meaning]);
  const bySignal = [
    '130, 143',
    'ended immediately by a second SIGINT or SIGTERM, or by one before the bridge was ready',
  ];
  return table(['code', 'meaning'], [...rows, bySignal]);
}

function commands(): string {
  const program = createProgram({ env: {}, stop: new AbortController().signal, print: () => {} });
  return table(
    ['command', 'what it does', 'options'],
    program.commands.flatMap((command) => commandRows(command, '')),
  );
}

function commandRows(command: Command, before: string): (readonly string[])[] {
  const name = `${before}${command.name()}`;
  const takes = command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`));
  const given = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description, defaultValue }) => {
      const unless = defaultValue === undefined ? '' : ` (default: ${defaultValue})`;
      return `\`${flags}\` ${description}${unless}`;
    })
    .join('; ');
  const row = [`\`${[name, ...takes].join(' ')}\``, command.description(), given];
  return [row, ...command.commands.flatMap((inner) => commandRows(inner, `${name} `))];
}

function variables(): string {
  const keys = options
    .filter(({ path }) => !/^observer\.(?!tags)/.test(path))
    .map(({ path, meaning }) => [`\`${environmentName(path)}\``, `\`${path}\`: ${meaning}`]);
  const overrides = [
    `\`${environmentPrefix}OBSERVER_<FIELD>\``,
    '`observer.<field>`: overrides this field of the instance metadata, as in `…_OBSERVER_VM_NAME`',
  ];
  const others = otherVariables.map(({ names, meaning }) => [names.map((name) => `\`${name}\``).join(' '), meaning]);
  return table(['variable', 'meaning'], [...keys, overrides, ...others]);
}

function metrics(): string {
  const rows = [...metricFamilies, deliveryLatency].map(({ name, kind, labels, help, toDo }) => [
    `\`${name}\``,
    kind,
    labels.map((label) => `\`${label}\``).join(' '),
    help,
    toDo,
  ]);
  return table(['metric', 'kind', 'labels', 'meaning', 'what to do'], rows);
}

function failures(rows: readonly CodeMeaning[]): string {
  const classed = rows.some(({ cause }) => cause !== '');
  return classed
    ? table(
        ['code', 'class', 'message'],
        rows.map(({ code, cause, message }) => [`\`${code}\``, cause, message]),
      )
    : table(
        ['code', 'message'],
        rows.map(({ code, message }) => [`\`${code}\``, message]),
      );
}

const phaseTable = (): string =>
  table(
    ['phase', 'meaning'],
    phases.map((phase) => [`\`${phase}\``, phaseMeanings[phase]]),
  );

function evidenceTable(): string {
  const words = [...new Set([...endEvidence, ...stepEvidence, ...approvalEvidence])];
  const rows = words.map((word) => [`\`${word}\``, evidenceMeanings[word]]);
  const onBehalf = [
    '`on-behalf-of:<name>`',
    'The observer approved the event on behalf of the named VM, which may be unresponsive (`approve.onBehalfOf`).',
  ];
  return table(['evidence', 'meaning'], [...rows, onBehalf]);
}

/** `fieldOf`: the field on Event Hubs that holds the same; null where there is none. */
const columns = (all: readonly Column[], fieldOf: (column: string) => string | null): string =>
  table(
    ['column', 'on Event Hubs', 'type', 'meaning'],
    all.map(({ name, type, description }) => {
      const field = fieldOf(name);
      return [`\`${name}\``, field === null ? '-' : `\`${field}\``, type, description];
    }),
  );

const recordField = (column: string): string | null =>
  Object.entries(columnOf).find(([, name]) => name === column)?.[0] ?? null;

const camelCase = (column: string): string => `${column.charAt(0).toLowerCase()}${column.slice(1)}`;

function failTable(code: SourceText): string {
  const rows = callsOf(code, /\bnew (Failure|Refusal)/).flatMap(({ args: [reason = '', sentence = ''] }) => {
    const known = Object.entries(exitCodes).find(([name]) => `'${name}'` === reason);
    return known && isSentence(sentence) ? [[String(known[1].code), sentenceOf(sentence)]] : [];
  });
  return table(['exit code', 'sentence'], inOrder(rows));
}

function logTable(code: SourceText): string {
  const rows = callsOf(code, /\blog\.(info|warn|error)/).map(({ name, path, args: [, sentence = ''] }) => [
    path.split('/')[1]?.replace(/\.ts$/, '') ?? '',
    name,
    sentenceOf(sentence),
  ]);
  return table(['part', 'level', 'sentence'], inOrder(rows));
}

/** A text of our own, rather than one that is passed on. */
const isSentence = (argument: string): boolean => /^['`]/.test(argument) && /[a-z] [a-z]/.test(argument);

const inOrder = (rows: readonly (readonly string[])[]): readonly (readonly string[])[] => {
  const byText = new Map(rows.map((row) => [row.join('\u0000'), row]));
  return [...byText.keys()].sort().flatMap((key) => [byText.get(key) ?? []]);
};
