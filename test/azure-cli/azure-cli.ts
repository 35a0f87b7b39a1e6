import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** https://pypi.org/project/azure-cli; `prepare` beside this file fetches it, and `npm ci` leaves it there: it takes minutes. */
const place = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'scheduled-events-bridge-tests',
  readFileSync(join(import.meta.dirname, 'requirements.txt'), 'utf8')
    .trim()
    .replace('==', '-'),
);
export const python = join(place, 'bin/python');

/** Null when the Azure CLI is installed; otherwise the reason why not. */
export function whyNoAzureCli(): string | null {
  const { error, status, stderr } = spawnSync(python, ['-c', 'import azure.cli.core'], { encoding: 'utf8' });
  return error?.message ?? (status === 0 ? null : stderr.trim());
}

const parser = join(import.meta.dirname, 'parse.py');
/** What the parser answered before. The answer to a call changes only with the release, which has its own folder, or with `parse.py`. */
const answers = join(place, `answers-${createHash('sha256').update(readFileSync(parser)).digest('hex')}.json`);

/** What the parser of the Azure CLI says of each call, in their order; null where it accepts it. A call is put to it once. */
export function refusalsOf(calls: readonly (readonly string[])[]): readonly (string | null)[] {
  const known: Record<string, string | null> = existsSync(answers) ? JSON.parse(readFileSync(answers, 'utf8')) : {};
  const unknown = [...new Set(calls.map((call) => JSON.stringify(call)))].filter((call) => !(call in known));
  if (unknown.length > 0) {
    Object.assign(known, answersTo(unknown));
    const written = `${answers}.${process.pid}`;
    writeFileSync(written, JSON.stringify(known));
    renameSync(written, answers);
  }
  return calls.map((call) => known[JSON.stringify(call)] as string | null);
}

function answersTo(calls: readonly string[]): Readonly<Record<string, string | null>> {
  // Its index of commands is made there once, by loading all of them.
  const env = { PATH: process.env.PATH, AZURE_CONFIG_DIR: join(place, 'configuration') };
  const options = { env, input: `[${calls}]`, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 } as const;
  const { status, stdout, stderr } = spawnSync(python, [parser], options);
  if (status !== 0) throw new Error(`parse.py ends with ${status}: ${stderr}`);
  const refusals = JSON.parse(stdout) as (string | null)[];
  return Object.fromEntries(calls.map((call, index) => [call, refusals[index] as string | null]));
}

/** A command that an extension brings. Microsoft publishes those on a site of its own and not on PyPI. */
interface ExtensionCommand {
  readonly command: string;
  readonly extension: string;
  /** Where Microsoft lists its options. */
  readonly source: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** Instead of the parser of the CLI, a list of their options stands for them. */
export const extensionCommands: readonly ExtensionCommand[] = [
  {
    command: 'graph query',
    extension: 'resource-graph',
    source: 'https://learn.microsoft.com/cli/azure/graph#az-graph-query',
    required: ['--graph-query'],
    optional: ['--allow-partial-scopes', '--first', '--management-groups', '--skip', '--skip-token', '--subscriptions'],
  },
  {
    command: 'monitor log-analytics query',
    extension: 'log-analytics',
    source: 'https://learn.microsoft.com/cli/azure/monitor/log-analytics#az-monitor-log-analytics-query',
    required: ['--analytics-query', '--workspace'],
    optional: ['--timespan', '--workspaces'],
  },
];
/** https://learn.microsoft.com/cli/azure/reference-index#global-parameters */
const everywhere = ['--debug', '--only-show-errors', '--output', '--query', '--subscription', '--verbose'];

/** The extension that a call needs; null without one. */
export const extensionOf = (call: readonly string[]): ExtensionCommand | null =>
  extensionCommands.find(({ command }) => call.join(' ').startsWith(`${command} `)) ?? null;

/** What the list of options rejects in a call of an extension; null when it is valid. */
export function refusalOfExtension(call: readonly string[], { required, optional }: ExtensionCommand): string | null {
  const given = call.filter((word) => word.startsWith('--'));
  const missing = required.filter((option) => !given.includes(option));
  const unknown = given.filter((option) => ![...required, ...optional, ...everywhere].includes(option));
  const said = [...missing.map((option) => `required: ${option}`), ...unknown.map((option) => `unknown: ${option}`)];
  return said.length > 0 ? said.join(', ') : null;
}
