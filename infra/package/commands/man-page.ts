import { exitCodes } from '../../../src/cli/exit-codes.ts';
import { environmentPrefix } from '../../../src/config/options.ts';
import { allOf, type CommandEntry, type OptionEntry } from './table.ts';

interface About {
  readonly product: string;
  readonly version: string;
  readonly at: Date;
}

/** Section 8 of the manual, in the macros of man(7). The same commands and the same moment make the same page. */
export function manPage(program: CommandEntry, { product, version, at }: About): string {
  const date = at.toISOString().slice(0, 10);
  const lines = [
    `.TH ${product.toUpperCase().replaceAll('-', '\\-')} 8 ${date} "${product} ${version}" "System Administration"`,
    '.SH NAME',
    `${text(product)} \\- deliver the Scheduled Events of an Azure VM to Event Hubs and Log Analytics`,
    '.SH SYNOPSIS',
    `.B ${text(product)}`,
    '.RI [ option... ] " command " [ argument... ]',
    '.SH DESCRIPTION',
    text(program.description),
    '.PP',
    text(
      'As a service it is started by systemd and reads one file, config.json. The command check verifies each part of it; status shows health.',
    ),
    '.SH OPTIONS',
    ...program.options.flatMap(option),
    '.SH COMMANDS',
    ...allOf(program)
      .filter(({ words, commands }) => words.length > 0 && commands.length === 0)
      .flatMap(command),
    '.SH EXIT STATUS',
    ...Object.values(exitCodes)
      .toSorted((a, b) => a.code - b.code)
      .flatMap(({ code, meaning }) => ['.TP', `.B ${code}`, text(meaning)]),
    '.SH ENVIRONMENT',
    '.TP',
    `.BI ${text(environmentPrefix)} NAME`,
    text(
      'An option of the configuration: imds.pollIntervalSeconds is SCHEDULED_EVENTS_BRIDGE_IMDS_POLL_INTERVAL_SECONDS. For the service, set it in /etc/default/scheduled-events-bridge.',
    ),
    '.SH FILES',
    ...files.flatMap(([path, meaning]) => ['.TP', `.I ${text(path)}`, text(meaning)]),
    '.SH SEE ALSO',
    '.BR systemctl (1),',
    '.BR journalctl (1)',
  ];
  return `${lines.join('\n')}\n`;
}

const files = [
  ['/etc/scheduled-events-bridge/config.json', 'The configuration, written by "service configure".'],
  ['/etc/scheduled-events-bridge/config.sample.json', 'A configuration to begin with.'],
  ['/etc/default/scheduled-events-bridge', 'Environment variables of the service.'],
  ['/var/lib/scheduled-events-bridge', 'Records that are not delivered yet, and what is known of each event.'],
  ['/opt/scheduled-events-bridge', 'The installed version, and the one before it.'],
] as const;

function command({ words, description, takes, options }: CommandEntry): string[] {
  const given = takes.map(({ name, isRequired }) => (isRequired ? `<${name}>` : `[${name}]`));
  return [
    `.SS ${text([...words, ...given].join(' '))}`,
    text(sentence(description)),
    ...takes
      .filter((one) => one.description !== '')
      .flatMap((one) => ['.TP', `.I ${text(one.name)}`, text(one.description)]),
    ...options.filter(({ long }) => long !== '--help').flatMap(option),
  ];
}

function option({ long, short, description, value }: OptionEntry): string[] {
  const flags = [short, long].filter((one) => one !== null).map((one) => `\\fB${text(one)}\\fR`);
  const name = value === null ? '' : ` \\fI${text(value.name)}\\fR`;
  return ['.TP', `${flags.join(', ')}${name}`, text(description)];
}

const sentence = (phrase: string): string => `${phrase.charAt(0).toUpperCase()}${phrase.slice(1).replace(/\.$/, '')}.`;

/** As roff reads it: nothing is an escape or a request, and every character is ASCII. */
function text(plain: string): string {
  const escaped = plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('’', '\\(cq')
    .replaceAll('…', '...')
    .replace(/\s+/g, ' ');
  if (/[^\x20-\x7e]/.test(escaped)) throw new Error(`The man page has no spelling for a character of: ${plain}`);
  return escaped.replace(/^(?=[.'])/, '\\&');
}
