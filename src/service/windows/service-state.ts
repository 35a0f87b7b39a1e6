import { basename, dirname } from 'node:path';
import type { UnitState } from '../system.ts';
import { stateIn } from '../unit-state.ts';
import { hostName } from './places.ts';

/** What the service control manager says, as the service host prints it with `--query`. */
export interface ServiceQuery {
  /** `missing`: there is no such service. */
  readonly state: 'missing' | 'stopped' | 'start-pending' | 'stop-pending' | 'running' | string;
  /** 0: none runs. */
  readonly processId: number;
  /** https://learn.microsoft.com/windows/win32/debug/system-error-codes */
  readonly win32ExitCode: number;
  /** Of the bridge, where `win32ExitCode` is 1066. */
  readonly serviceExitCode: number;
  readonly startType: 'automatic' | 'manual' | 'disabled' | string;
  readonly imagePath: string;
}

/** Lines `Name=value`. */
export function queryIn(text: string): ServiceQuery {
  const fields = new Map(
    text.split(/\r?\n/).map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1).trim()];
    }),
  );
  const number = (name: string): number => Number(fields.get(name)) || 0;
  return {
    state: fields.get('State') ?? '',
    processId: number('ProcessId'),
    win32ExitCode: number('Win32ExitCode'),
    serviceExitCode: number('ServiceExitCode'),
    startType: fields.get('StartType') ?? '',
    imagePath: fields.get('ImagePath') ?? '',
  };
}

/** ERROR_SERVICE_SPECIFIC_ERROR: the exit code is the bridge's. */
const serviceSpecific = 1066;
/** ERROR_SERVICE_NEVER_STARTED */
const neverStarted = 1077;

/**
 * The state of the service in the words of systemd. `reported`: the file of the service host, which is believed only while its process
 * is the one that runs. `attempt`: names the last start that this program requested; null without one.
 */
export function unitStateOf(
  query: ServiceQuery,
  reported: string | null,
  attempt: { readonly name: string; readonly error: number } | null,
): UnitState {
  const none: UnitState = {
    ...{ active: 'inactive', sub: 'dead', file: fileState(query), invocation: null, pid: null, restarts: 0 },
    ...{ message: '', exitStatus: 0, result: 'success', isStale: false, since: null },
  };
  const isOwn = query.processId !== 0 && hostPidIn(reported ?? '') === query.processId;
  switch (query.state) {
    case 'running':
    case 'start-pending':
      return isOwn && reported !== null
        ? { ...stateIn(reported), file: none.file, isStale: false }
        : { ...none, active: 'activating', sub: 'start' };
    case 'stop-pending':
      return { ...none, active: 'deactivating', sub: 'stop' };
    case 'missing':
      return none;
  }
  const error = attempt !== null && attempt.error !== 0 ? attempt.error : query.win32ExitCode;
  if (error === 0 || error === neverStarted) return none;
  const exitStatus = error === serviceSpecific ? query.serviceExitCode : 0;
  return {
    ...none,
    active: 'failed',
    sub: 'failed',
    invocation: attempt?.name ?? null,
    exitStatus,
    result: error === serviceSpecific ? `exit code ${exitStatus}` : describeError(error),
  };
}

/**
 * What Windows means by the errors of a start that an administrator can do something about.
 * https://learn.microsoft.com/windows/win32/debug/system-error-codes
 */
const meanings: Readonly<Record<number, string>> = {
  2: 'its program is missing',
  5: 'access to its program is denied',
  577: 'App Control does not allow its program',
  1053: 'its program did not answer in time',
  1067: 'its program ended unexpectedly',
  1069: 'its account may not log on: give NT SERVICE\\ALL SERVICES the right to log on as a service',
  1260: 'a group policy does not allow its program',
};

const describeError = (error: number): string =>
  `Windows error ${error}${meanings[error] === undefined ? '' : `, ${meanings[error]}`}`;

// assumption: windows-installer-disabled
/** An administrator who sets the start type to Disabled masks the service: nothing can start it. */
function fileState({ state, startType }: ServiceQuery): string {
  if (state === 'missing') return '';
  return startType === 'automatic' ? 'enabled' : startType === 'disabled' ? 'masked' : 'disabled';
}

const hostPidIn = (reported: string): number => Number(/^HostPID=(\d+)\r?$/m.exec(reported)?.[1] ?? 0);

/** The folder in `versions` whose program the service runs; null where it is another program. Windows ignores the case of paths. */
export function folderIn(imagePath: string, versions: string): string | null {
  const program = imagePath.replace(/^"(.*)"$/, '$1');
  const folder = dirname(program);
  const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
  return isSame(basename(program), hostName) && isSame(dirname(folder), versions) ? basename(folder) : null;
}
