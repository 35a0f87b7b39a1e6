import { type Ended, lastWord, runProgram } from '../program.ts';
import { Refusal } from '../refusals.ts';
import type { ServiceManager } from '../system.ts';
import { stateIn } from '../unit-state.ts';
import { unitName } from './places.ts';

/** systemd, asked by its own program. */
export interface Systemd extends ServiceManager {
  reload(): Promise<void>;
  /** Starts it with the machine. Works also where systemd does not run, as in an image. */
  enable(): Promise<void>;
  /** Returns at once. */
  restart(): Promise<void>;
  /** Forgets that it failed. */
  forget(): Promise<void>;
}

const askMs = 30_000;
/** The unit gives 30 s to stop; then systemd kills it. */
const stopMs = 120_000;

const properties = [
  ...['LoadState', 'ActiveState', 'SubState', 'UnitFileState', 'InvocationID', 'MainPID', 'NRestarts', 'StatusText'],
  ...['ExecMainStatus', 'Result', 'NeedDaemonReload', 'ActiveEnterTimestamp'],
];

/** `env`: `systemctl` is searched in its PATH. */
export function createSystemd(env: NodeJS.ProcessEnv): Systemd {
  const ask = (program: string, args: readonly string[], timeoutMs = askMs): Promise<Ended> =>
    runProgram(program, args, { env: { ...env, LC_ALL: 'C', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' }, timeoutMs });

  async function systemctl(verb: string, ...args: readonly string[]): Promise<string> {
    const ended = await ask('systemctl', [verb, ...args], stopMs);
    if (ended.code === 0) return ended.out;
    throw new Refusal(
      'notDone',
      `"systemctl ${[verb, ...args].join(' ')}" failed: ${lastWord(ended)}. See: systemctl status ${unitName}`,
    );
  }

  return {
    async unit() {
      return stateIn(await systemctl('show', unitName, `--property=${properties.join(',')}`));
    },
    reload: async () => void (await systemctl('daemon-reload')),
    enable: async () => void (await systemctl('enable', '--quiet', unitName)),
    disable: async () => void (await systemctl('disable', '--quiet', unitName)),
    restart: async () => void (await systemctl('restart', '--no-block', unitName)),
    stop: async () => void (await systemctl('stop', unitName)),
    // It fails where there is nothing to forget.
    forget: async () => void (await ask('systemctl', ['reset-failed', unitName])),
    async lastLogLines(invocation) {
      const which = invocation === null ? [`--unit=${unitName}`] : [`_SYSTEMD_INVOCATION_ID=${invocation}`];
      const { out } = await ask('journalctl', ['--quiet', '--no-pager', '--output=cat', '--lines=5', ...which]);
      return out.split('\n').filter((line) => line.trim() !== '');
    },
  };
}
