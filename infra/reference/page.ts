import type { Command } from 'commander';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { createProgram } from '../../src/cli/program.ts';
import { environmentName, environmentPrefix } from '../../src/config/options.ts';
import { options } from '../../src/config.ts';
import { healthRoutes } from '../../src/health/health.ts';
import { metricFamilies } from '../../src/health/metric-families.ts';
import { deliveryLatency } from '../../src/health/sink-metrics.ts';
import { approvalEvidence, endEvidence, phases, stepEvidence } from '../../src/lifecycle/record.ts';
import { columnOf } from '../../src/sinks/log-analytics/encode.ts';
import { azureFailures, type CodeMeaning, imdsFailures } from './failures.ts';
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

/** Everything that the bridge says, takes and ends with, as one page of Markdown. */
export function referencePage({ code, tables }: PageSources): string {
  const said = new Map([...code].filter(([path]) => !path.startsWith('src/azure-simulator/')));
  return `${[
    intro,
    section('Exit codes', exitCodeTable()),
    section('Commands', commands()),
    section('Environment variables', variables()),
    section(
      'Local HTTP',
      httpText,
      table(
        ['path', 'answer'],
        Object.entries(healthRoutes).map(([path, text]) => [`\`${path}\``, text]),
      ),
    ),
    section('Metrics', metricsText, metrics()),
    section('Failures of Event Hubs, Log Analytics and tokens', failuresText, failures(azureFailures())),
    section('Failures of the metadata service (IMDS)', imdsText, failures(imdsFailures())),
    section('Phases and evidence', recordText, phaseTable(), evidenceTable()),
    section('Fields of a record', fieldsText, columns(tables.VmLifecycle_CL ?? [], recordField)),
    section('Fields of a heartbeat', heartbeatText, columns(tables.VmLifecycleBridge_CL ?? [], camelCase)),
    section('What commands say when they fail', failText, failTable(said)),
    section('What the log says', logText, logTable(said)),
  ].join('\n\n')}\n`;
}

const intro = `# Reference

Everything that the bridge says, and what to do about it. Made from the code: \`UPDATE=1 npm run test:unit -- test/infra/reference\` writes it anew.

**Woken at three?** \`scheduled-events-bridge check\` says in one line each what is wrong and how to fix it;
\`scheduled-events-bridge status\` says what waits and since when. A word like \`http-403\` in a log line, a metric or \`status\` is
explained below: search this page for it.`;

const httpText =
  'On 127.0.0.1 at `http.port`, 0 = off. GET and HEAD only; a Host header other than 127.0.0.1 or localhost with that port is refused with 421.';
const metricsText =
  'At `/metrics`, where `http.port` is set. Times are in seconds, sizes in bytes. No label holds an event, a record or a VM.';
const failuresText = `The \`class\` says who has to act. *transient*: nobody, it is tried again. *throttled*: nobody, it is tried again later. *configuration*: you; the
records are kept meanwhile. *too-large*, *poison*: the batch is cut up. A record
that is refused alone becomes a dead letter (\`outbox list\`) once another record got through. While none does, the destination counts as failing and
the record is tried again, every five minutes at most; a record that was refused for a day while no other event's was becomes a dead letter too.
The names in the sentences are examples.`;
const imdsText =
  'A look that brought no document. Nothing ends an event but a valid document, and the endpoint is asked again at once.';
const recordText =
  'Completed, Canceled and Ended all mean: recover now. A test record (`emit-test`) has no evidence, since no word of it would be true.';
const fieldsText =
  'The columns of `VmLifecycle_CL`, each with its field in the JSON on Event Hubs, where what is unknown is null.';
const heartbeatText =
  'The columns of `VmLifecycleBridge_CL`, each with its field in the JSON on Event Hubs (`heartbeat.eventHubs`).';
const failText = 'What stands between ‹ and › is filled in.';
const logText =
  'On stderr, one JSON object a line. What stands between ‹ and › is filled in. `info` needs nobody, `warn` and `error` do when they last.';

const section = (title: string, ...parts: readonly string[]): string => [`## ${title}`, ...parts].join('\n\n');

const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ');

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((line) => `| ${line.map(cell).join(' | ')} |`).join('\n');
}

function exitCodeTable(): string {
  const rows = Object.values(exitCodes)
    .toSorted((a, b) => a.code - b.code)
    .map(({ code, meaning }) => [String(code), meaning]);
  const bySignal = ['130, 143', 'ended at once: by a second SIGINT or SIGTERM, or by one before it was ready'];
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
        ['code', 'class', 'what it says'],
        rows.map(({ code, cause, message }) => [`\`${code}\``, cause, message]),
      )
    : table(
        ['code', 'what it says'],
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
    'Approved for this VM, which may be the one that hangs (`approve.onBehalfOf`).',
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

/** Rather a text than something that somebody else says. */
const isSentence = (argument: string): boolean => /^['`]/.test(argument) && /[a-z] [a-z]/.test(argument);

const inOrder = (rows: readonly (readonly string[])[]): readonly (readonly string[])[] => {
  const byText = new Map(rows.map((row) => [row.join('\u0000'), row]));
  return [...byText.keys()].sort().flatMap((key) => [byText.get(key) ?? []]);
};
