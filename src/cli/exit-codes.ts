import { refusals } from '../service/refusals.ts';
import { type SinkKey, sinks } from '../sinks/registry.ts';
import { twoColumns } from './wrap.ts';

const ownCodes = {
  ok: { code: 0, meaning: 'done, or stopped on request' },
  unexpected: { code: 1, meaning: 'unexpected error' },
  usage: { code: 2, meaning: 'the command line is wrong' },
  // EX_UNAVAILABLE of sysexits.h. Of the bundle only, which says it before anything else of this program runs.
  nodeTooOld: { code: 69, meaning: 'Node.js is too old; starting again will not help' },
  // EX_TEMPFAIL and EX_CONFIG of sysexits.h; 76 stands between them and is EX_PROTOCOL: two ends that do not understand each other.
  alreadyRunning: { code: 75, meaning: 'another instance holds the state directory' },
  newerOutbox: {
    code: 76,
    meaning: 'the outbox was written by a newer major version; the message says which to install',
  },
  configuration: { code: 78, meaning: 'the configuration is wrong; starting again will not help' },
  // Of `check`, one per class of failure: the first one in the pipeline counts.
  imdsFailed: { code: 10, meaning: 'the metadata service cannot be reached, or refuses requests' },
  identityFailed: { code: 11, meaning: 'no token for the managed identity' },
  diskFailed: { code: 14, meaning: 'the state directory or its contents are unusable, or records are in memory only' },
  clockFailed: { code: 15, meaning: 'the clock is too far off' },
  actionRequired: {
    code: 20,
    meaning:
      'operator action required, or the health is unknown; the first line of `status` has the problem and how to fix it',
  },
  noOutbox: { code: 21, meaning: 'there is no outbox in the state directory, or none that can be read' },
  notDone: { code: 22, meaning: 'request failed; the message says why' },
  // 128 and the number of SIGINT, as shells report it.
  interrupted: { code: 130, meaning: '`check` was interrupted before the end: its result is incomplete' },
  // As `systemctl status` ends for a unit that does not exist. https://www.freedesktop.org/software/systemd/man/latest/systemctl.html#Exit%20status
  notInstalled: { code: 4, meaning: 'the service is not installed on this machine' },
  // Of `service` and `extension`: 51 to 56 are shown by Azure's guest agents in the deployment.
  ...refusals,
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;
/** A sink without its own code ends with `configuration`. */
export type ExitReason = keyof typeof ownCodes | `${SinkKey}Failed`;

/** The exit codes, for units, scripts and operators. Documented by `--help` of every command. */
export const exitCodes = {
  ...ownCodes,
  ...Object.fromEntries(sinks.flatMap(({ key, check }) => (check.exit ? [[`${key}Failed`, check.exit]] : []))),
} as Readonly<Record<ExitReason, { readonly code: number; readonly meaning: string }>>;

/** Of problems with a sink. */
export const sinkReasons: readonly ExitReason[] = sinks.flatMap(({ key, check }) =>
  check.exit ? [`${key as SinkKey}Failed` as const] : [],
);

/** Ends a command: its message is for the operator and says what to do next; it is printed without a stack. */
export class Failure extends Error {
  readonly reason: ExitReason;
  constructor(reason: ExitReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** For the end of a command's help. */
export function describeExitCodes(...reasons: readonly ExitReason[]): string {
  // Those of `run`, and of the whole bridge; the simulator has no service.
  const isRun = reasons.includes('nodeTooOld') && reasons.includes('alreadyRunning');
  const again = isRun ? '; of `run`: a service manager should start it again' : '';
  const rows = reasons
    .map(
      (reason) => [exitCodes[reason].code, exitCodes[reason].meaning + (reason === 'unexpected' ? again : '')] as const,
    )
    .toSorted(([a], [b]) => a - b);
  const bySignal = [
    '130, 143',
    `ended at once: by a second SIGINT or SIGTERM${isRun ? ', or by one before it was ready' : ''}`,
  ] as const;
  const lines = [...rows, bySignal].map(([code, meaning]) => twoColumns(`  ${code}`, meaning, 12));
  return `\nExit codes:\n${lines.join('\n')}\n`;
}
