import { type ExitReason, exitCodes } from '../exit-codes.ts';

/**
 * `ok`: proven. `warning`: works now; someone should look. `problem`: does not work until someone acts. `not-proven`: could not be
 * found out, and why.
 */
export type Verdict = 'ok' | 'warning' | 'problem' | 'not-proven';

/** What one line proves. */
export interface Finding {
  readonly what: CheckId;
  readonly verdict: Verdict;
  /** One sentence, or two, for the operator. */
  readonly message: string;
  /** The exact command that fixes it, or that shows what has to be known next. One line. */
  readonly remedy?: string;
  /** How the command ends for it, where that is not what its class says. */
  readonly exit?: ExitReason;
}

/** Classes of failure, in the order in which they are looked at: what comes first is often the cause of what follows. */
export const classes = {
  configuration: 'configuration',
  disk: 'diskFailed',
  state: 'diskFailed',
  imds: 'imdsFailed',
  clock: 'clockFailed',
  identity: 'identityFailed',
  eventHubs: 'eventHubsFailed',
  logAnalytics: 'logAnalyticsFailed',
  stdout: 'configuration',
  delivery: 'actionRequired',
  approve: 'configuration',
  installation: 'actionRequired',
} as const satisfies Record<string, ExitReason>;
export type Class = keyof typeof classes;

/** Everything that can be proven. Names are stable: scripts read them from `--json`. */
export const checkIds = {
  'configuration.read': 'the configuration is complete and without contradictions',
  'configuration.readers': 'who can read and change the file, and which secrets are in it',
  'configuration.environment': 'variables and warnings that the configuration was made with',
  'disk.directory': 'the state directory is there, or can be made, and can be written',
  'disk.owner': 'its files belong to the account that it belongs to',
  'disk.space': 'there is room for the outbox',
  'state.service': 'whether a service runs with this state directory, answers, and sees documents',
  'state.memory': 'whether the service holds records in memory only',
  'state.outbox': 'the outbox is sound',
  'imds.instance': 'the metadata service can be reached and tells who this VM is; the outbox is of the same',
  'imds.document': 'it answers with a document of scheduled events, in which api-version',
  'imds.names': 'the names in that document beside our own',
  'imds.neighbours': 'whether another VM sees the events of this one',
  'clock.offset': 'the clock of this VM is that of Azure',
  'identity.token': 'the managed identity gets tokens',
  'identity.which': 'which identity that is',
  'eventHubs.name': 'the name resolves, or the proxy opens the way',
  'eventHubs.tcp': 'a connection is established',
  'eventHubs.tls': 'the certificate is trusted and of that name',
  'eventHubs.send': 'the right to send, by opening a sending link',
  'eventHubs.probe': 'a test record is accepted (--write)',
  'logAnalytics.name': 'the name resolves, or the proxy opens the way',
  'logAnalytics.tcp': 'a connection is established',
  'logAnalytics.tls': 'the certificate is trusted and of that name',
  'logAnalytics.write': 'the right to write, by an empty request',
  'logAnalytics.probe': 'a test row is accepted (--write)',
  'logAnalytics.columns': 'the stream takes the columns that are sent (--write)',
  'stdout.open': 'records go to standard output too',
  'delivery.backlog': 'whether records wait for a destination that does not take them',
  'approve.policy': 'what would be approved, in words',
  'installation.version': 'the version that was to be installed last is the one that was ready last',
} as const satisfies Record<`${Class}.${string}`, string>;
export type CheckId = keyof typeof checkIds;

export const ok = (what: CheckId, message: string, remedy?: string): Finding => finding(what, 'ok', message, remedy);
export const warning = (what: CheckId, message: string, remedy?: string): Finding =>
  finding(what, 'warning', message, remedy);
export const problem = (what: CheckId, message: string, remedy?: string): Finding =>
  finding(what, 'problem', message, remedy);
export const notProven = (what: CheckId, message: string, remedy?: string): Finding =>
  finding(what, 'not-proven', message, remedy);

/** What a reason says of the service, which tries again: a check tries once. */
const triesAgain = /; it is (tried|sent|asked) again( later)?/g;

/** On one line, whatever was quoted in it. */
export function finding(what: CheckId, verdict: Verdict, message: string, remedy?: string): Finding {
  return {
    what,
    verdict,
    message: message.replace(/\s+/g, ' ').replace(triesAgain, ''),
    ...(remedy !== undefined && { remedy }),
  };
}

/** The class that a finding belongs to. */
export const classOf = (what: CheckId): Class => what.split('.')[0] as Class;

/** All findings together. */
export interface Judgement {
  /** The worst there is; what is not proven does not count. */
  readonly verdict: 'ok' | 'warning' | 'problem';
  readonly counts: Readonly<Record<Verdict, number>>;
  /** Of the first problem, which is likely the cause of the others; `ok` when there is none. */
  readonly exit: ExitReason;
  readonly exitCode: number;
  readonly first: Finding | null;
}

export function judge(findings: readonly Finding[]): Judgement {
  const count = (verdict: Verdict): number => findings.filter((one) => one.verdict === verdict).length;
  const counts = {
    ok: count('ok'),
    warning: count('warning'),
    problem: count('problem'),
    'not-proven': count('not-proven'),
  };
  const first = findings.find(({ verdict }) => verdict === 'problem') ?? null;
  const exit = first === null ? 'ok' : (first.exit ?? classes[classOf(first.what)]);
  const verdict = first ? 'problem' : counts.warning > 0 ? 'warning' : 'ok';
  return { verdict, counts, exit, exitCode: exitCodes[exit].code, first };
}
