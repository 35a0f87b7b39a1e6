import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Clock } from '../../clock.ts';
import { serviceName } from '../names.ts';
import { contentOf } from '../read-file.ts';
import { Refusal } from '../refusals.ts';
import type { ServiceManager } from '../system.ts';
import { scCalls } from './definition.ts';
import type { WindowsPlaces } from './places.ts';
import { queryIn, type ServiceQuery, unitStateOf } from './service-state.ts';
import type { Tools } from './tools.ts';

/** The service control manager, asked by sc.exe and the service host. */
export interface ControlManager extends ServiceManager {
  query(): Promise<ServiceQuery>;
  enable(): Promise<void>;
  /** Stops it, where it runs, and starts it. That it cannot be started shows in its state. */
  restart(): Promise<void>;
}

/** The host gives the bridge 25 s to stop, and Windows waits for as long as it reports that it is stopping. */
const stopMs = 120_000;
const pollEveryMs = 500;

// assumption: windows-installer-disabled
/** Exit codes of sc.exe. https://learn.microsoft.com/windows/win32/debug/system-error-codes--1000-1299- */
const [alreadyRunning, missing, notActive, cannotAccept] = [1056, 1060, 1062, 1061];

export function createManager(
  places: WindowsPlaces,
  tools: Tools,
  clock: Pick<Clock, 'sleep' | 'monotonicMs'>,
): ControlManager {
  /** The last start that was requested here. */
  let attempt: { readonly name: string; readonly error: number } | null = null;
  let attempts = 0;

  const query = async (): Promise<ServiceQuery> => queryIn(await tools.call('host', ['--query', serviceName]));

  async function stop(): Promise<void> {
    const deadline = clock.monotonicMs() + stopMs;
    for (let asked = false; ; await clock.sleep(pollEveryMs)) {
      const { state } = await query();
      if (state === 'stopped' || state === 'missing') return;
      // One that is just starting accepts no request to stop yet.
      if (!asked) {
        const { code } = await tools.ask('sc', ['stop', serviceName]);
        if (code === missing || code === notActive) return;
        asked = code !== cannotAccept;
      }
      if (clock.monotonicMs() >= deadline)
        throw new Refusal(
          'notDone',
          `The service has not stopped for ${stopMs / 1000} s (it is ${state}). See: Get-Service ${serviceName}`,
        );
    }
  }

  return {
    query,
    unit: async () => unitStateOf(await query(), contentOf(places.serviceState)?.toString('utf8') ?? null, attempt),
    enable: async () => void (await tools.call('sc', scCalls.start('auto'))),
    async disable() {
      // Disabled is more than that, and an administrator's decision.
      if ((await query()).startType !== 'disabled') await tools.call('sc', scCalls.start('demand'));
    },
    stop,
    async restart() {
      await stop();
      const { code } = await tools.ask('sc', ['start', serviceName]);
      attempts += 1;
      attempt = { name: `attempt-${attempts}`, error: code === null || code === alreadyRunning ? 0 : code };
    },
    lastLogLines: async () => lastLines(places.log, 5),
  };
}

const tailBytes = 16 * 1024;

/** Empty where the file cannot be read. */
function lastLines(path: string, count: number): string[] {
  try {
    const fd = openSync(path, 'r');
    try {
      const { size } = fstatSync(fd);
      const tail = Buffer.alloc(Math.min(size, tailBytes));
      readSync(fd, tail, 0, tail.length, size - tail.length);
      const lines = tail.toString('utf8').split(/\r?\n/);
      return lines.filter((line) => line.trim() !== '').slice(-count);
    } finally {
      closeSync(fd);
    }
  } catch {
    return [];
  }
}
