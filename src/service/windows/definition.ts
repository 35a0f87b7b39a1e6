import { messageOf } from '../../log.ts';
import { serviceName } from '../names.ts';
import { Refusal } from '../refusals.ts';

/** The service as Windows is to know it: what the unit is for systemd. In a package as `windows-service.json`. */
export interface Definition {
  readonly displayName: string;
  readonly description: string;
  /** A virtual account, which has no password: `NT SERVICE\` and the name of the service. */
  readonly account: string;
  /** `unrestricted`: the token of the process has the service's identifier, to which access is given. */
  readonly sidType: 'none' | 'unrestricted' | 'restricted';
  /** What Windows does when the service host itself ends without having said so. The last delay repeats. */
  readonly failure: { readonly resetAfterSeconds: number; readonly restartAfterMs: readonly number[] };
}

/** @throws Refusal where the file of a package is no such definition. */
export function readDefinition(text: string, file: string): Definition {
  const problem = (what: string): Refusal =>
    new Refusal('missing', `${file} does not define the service: ${what}. Fetch the package again.`);
  let read: Partial<Definition> | null;
  try {
    read = JSON.parse(text);
  } catch (error) {
    throw problem(messageOf(error));
  }
  const { displayName, description, account, sidType, failure } = read ?? {};
  const texts = { displayName, description, account, sidType };
  const lacking = Object.entries(texts).filter(([, value]) => typeof value !== 'string');
  if (lacking.length > 0) throw problem(`it has no ${lacking.map(([name]) => name).join(', ')}`);
  const delays = failure?.restartAfterMs;
  if (typeof failure?.resetAfterSeconds !== 'number' || !Array.isArray(delays) || delays.some((ms) => !(ms >= 0)))
    throw problem('it does not say what happens after a failure');
  return read as Definition;
}

// assumption: windows-installer-account, windows-installer-switch
/**
 * Arguments of sc.exe, one call each. The word after `name=` is an argument of its own.
 * https://learn.microsoft.com/windows-server/administration/windows-commands/sc-create
 */
export const scCalls = {
  /** It is started by the `enable` step only. */
  create: ({ displayName, account }: Definition, program: string): string[] => [
    ...['create', serviceName, 'type=', 'own', 'start=', 'demand', 'error=', 'normal'],
    ...['binPath=', imagePathOf(program), 'obj=', account, 'DisplayName=', displayName],
  ],
  change: ({ displayName, account }: Definition): string[] => [
    ...['config', serviceName, 'type=', 'own', 'error=', 'normal', 'obj=', account, 'DisplayName=', displayName],
  ],
  /** https://learn.microsoft.com/windows-server/administration/windows-commands/sc-failure */
  describe: ({ description, sidType, failure }: Definition): string[][] => [
    ['description', serviceName, description],
    [
      ...['failure', serviceName, 'reset=', `${failure.resetAfterSeconds}`],
      ...['actions=', failure.restartAfterMs.map((ms) => `restart/${ms}`).join('/')],
    ],
    ['sidtype', serviceName, sidType],
  ],
  /** The switch of versions: one value, effective with the next start. */
  image: (program: string): string[] => ['config', serviceName, 'binPath=', imagePathOf(program)],
  /** `demand`: it can be started, and does not start at boot. */
  start: (type: 'auto' | 'demand'): string[] => ['config', serviceName, 'start=', type],
} as const;

/** In quotation marks: else `C:\Program.exe` would be tried. */
export const imagePathOf = (program: string): string => `"${program}"`;

const eventSource = `HKLM\\SYSTEM\\CurrentControlSet\\Services\\EventLog\\Application\\${serviceName}`;

/**
 * Arguments of reg.exe, one call each: the messages of the service in the event log are in its program.
 * https://learn.microsoft.com/windows/win32/eventlog/event-sources
 */
export const eventSourceCalls = {
  register: (program: string): string[][] => [
    ['add', eventSource, '/v', 'EventMessageFile', '/t', 'REG_EXPAND_SZ', '/d', program, '/f', '/reg:64'],
    // Error, warning and information.
    ['add', eventSource, '/v', 'TypesSupported', '/t', 'REG_DWORD', '/d', '7', '/f', '/reg:64'],
  ],
  find: ['query', eventSource, '/reg:64'],
  remove: ['delete', eventSource, '/f', '/reg:64'],
};
