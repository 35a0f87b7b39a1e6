import type { Finding as Proven, Verdict } from '../../check/finding.ts';
import { type SinkKey, sinks } from '../../sinks/registry.ts';
import { type ExitReason, exitCodes } from '../exit-codes.ts';

/** What one line proves. */
export type Finding = Proven<CheckId, ExitReason>;

const before = {
  configuration: 'configuration',
  disk: 'diskFailed',
  state: 'diskFailed',
  imds: 'imdsFailed',
  clock: 'clockFailed',
  identity: 'identityFailed',
} as const satisfies Record<string, ExitReason>;
const after = {
  delivery: 'actionRequired',
  approve: 'configuration',
  installation: 'actionRequired',
} as const satisfies Record<string, ExitReason>;
export type Class = keyof typeof before | SinkKey | keyof typeof after;

/** Classes of failure, in the order in which they are checked: what comes first is often the cause of what follows. */
export const classes = {
  ...before,
  ...Object.fromEntries(sinks.map(({ key, check }) => [key, check.exit ? `${key}Failed` : 'configuration'])),
  ...after,
} as Readonly<Record<Class, ExitReason>>;

const ownIds = {
  'configuration.read': 'the configuration is complete and consistent',
  'configuration.readers': 'who can read and change the file, and which secrets are in it',
  'configuration.environment': 'environment variables that were used, and warnings about the configuration',
  'disk.directory': 'the state directory exists or can be created, and is writable',
  'disk.owner': 'its files and the directory have the same owner',
  'disk.space': 'there is space for the outbox',
  'state.service': 'whether a service runs with this state directory, answers, and sees documents',
  'state.memory': 'whether the service holds records in memory only',
  'state.outbox': 'the outbox is sound',
  'imds.instance': 'the metadata service can be reached and identifies this VM; the outbox belongs to the same VM',
  'imds.document': 'it returns a document of scheduled events, and in which api-version',
  'imds.names': 'the names in that document, compared with that of this VM',
  'imds.neighbours': 'whether another VM sees the events of this one',
  'clock.offset': 'the clock of this VM agrees with that of Azure',
  'identity.token': 'tokens are issued for the managed identity',
  'identity.which': 'which identity that is',
  'delivery.backlog': 'whether records wait for a destination that does not take them',
  'approve.policy': 'which events would be approved',
  'installation.version': 'the version that was last installed is the one that was last ready',
} as const satisfies Record<`${Class}.${string}`, string>;
export type CheckId = keyof typeof ownIds | `${SinkKey}.${string}`;

/** Everything that can be verified. Names are stable: scripts read them from `--json`. */
export const checkIds: Readonly<Partial<Record<CheckId, string>>> = {
  ...ownIds,
  ...Object.assign({}, ...sinks.map(({ check }) => check.findings)),
};

/** The class that a finding belongs to. */
export const classOf = (what: CheckId): Class => what.split('.')[0] as Class;

/** All findings together. */
export interface Judgement {
  /** The worst there is; what is not proven does not count. */
  readonly verdict: 'ok' | 'warning' | 'problem';
  readonly counts: Readonly<Record<Verdict, number>>;
  /** Of the first problem, which is likely the cause of the others; `ok` without problems. */
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
