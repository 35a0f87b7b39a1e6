import type { CommandContext } from '../../cli/command-context.ts';
import { Failure } from '../../cli/exit-codes.ts';
import { streams } from '../cli/streams.ts';
import { type AzureSimulator, startAzureSimulator } from '../index.ts';
import { type BridgeProcess, createBridgeProcess } from './bridge-process.ts';
import { createDisplay, type Display } from './display.ts';

export interface DemoOptions extends CommandContext {
  /** For all files; the caller removes it. */
  readonly directory: string;
  /** The file that this program was started with. */
  readonly entry: string;
  /** Wraps the simulator, so that a test can lose something. */
  readonly through?: (azure: AzureSimulator) => AzureSimulator;
  readonly timeoutMs?: number;
}

/** What a show runs on. */
export interface Stage {
  readonly azure: AzureSimulator;
  readonly display: Display;
  /** Ends the show: it was stopped, or, with a {@link Failure} as its reason, a process ended by itself. */
  readonly stop: AbortSignal;
  /** A process of a program, with these arguments, not started yet. */
  addProcess(program: string, args: readonly string[]): BridgeProcess;
}

/** A bridge sends what is pending for five seconds at most when it is stopped. */
const stopMs = 6000;

/**
 * Starts a local Azure and a display, plays, and cleans up: however it ends, no process is left and the terminal is restored, also when
 * this process is ended early. A failure that `play` throws gets the last lines of the log.
 */
export async function onStage(
  { directory, env, print, stop, through = (azure) => azure }: DemoOptions,
  { vms, height }: { readonly vms: readonly string[]; readonly height: (columns: number) => number },
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  const display = createDisplay(process.stdout, { print, env }, height);
  const broken = new AbortController();
  const processes: BridgeProcess[] = [];
  const simulator = await startAzureSimulator({ directory, vms: vms.map((name) => ({ name })), streams });
  const cleanUp = (): void => {
    display.close();
    for (const one of processes) one.killNow();
  };
  process.once('exit', cleanUp);
  try {
    await play({
      azure: through(simulator),
      display,
      stop: AbortSignal.any([stop, broken.signal]),
      addProcess(program, args) {
        const onUnexpectedExit = (how: string): void =>
          broken.abort(new Failure('unexpected', `A bridge of the demo exited unexpectedly (${how}).`));
        const added = createBridgeProcess({ program, args, env, onUnexpectedExit });
        processes.push(added);
        return added;
      },
    });
  } catch (error) {
    if (error instanceof Failure && error.reason === 'unexpected')
      throw new Failure(error.reason, `${error.message}\n${lastLogLines(processes)}`);
    throw error;
  } finally {
    display.close();
    await Promise.all(processes.map((one) => one.stop(stop.aborted ? 0 : stopMs)));
    process.off('exit', cleanUp);
    await simulator.close();
  }
}

export const stoppedBeforeTheEnd = (): Failure =>
  new Failure('notDone', 'Stopped before the end; nothing was compared.');

function lastLogLines(processes: readonly BridgeProcess[]): string {
  const lines = processes.flatMap(({ log }) => log);
  return lines.length === 0 ? 'The bridge logged nothing.' : `The last lines of its log:\n${lines.join('\n')}`;
}
