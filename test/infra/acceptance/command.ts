import { type Assumption, readAssumptions } from '../../../infra/acceptance/assumptions.ts';
import type { RunEvent } from '../../../infra/acceptance/journal.ts';
import { main } from '../../../infra/acceptance/main.ts';
import type { Step, StepOptions } from '../../../infra/acceptance/step.ts';
import type { StopSignal } from '../../../infra/acceptance/stop-requests.ts';
import type { FakeAzure } from './fake-azure.ts';
import { fakeTarget } from './fake-target.ts';

/** The acceptance command in memory; only the folder of the run is real. */
export interface Command {
  readonly ended: Promise<number>;
  readonly printed: () => string;
  readonly errors: () => string;
  /** `afterMs`: so long after what was sent before. */
  readonly send: (signal: StopSignal, afterMs?: number) => void;
  /** Exit codes with which it ended the process at once. */
  readonly exits: readonly number[];
  readonly killed: () => boolean;
  /** Events that calls of `az` were asked to write. */
  readonly calls: readonly RunEvent[];
}

/** A few, because each run writes its report many times. */
export const fewAssumptions = readAssumptions()
  .filter(({ manual }) => manual === undefined)
  .slice(0, 4);

export function startCommand(
  args: readonly string[],
  {
    azure,
    steps = [],
    stepsOf = () => steps,
    assumptions = fewAssumptions,
  }: {
    azure: FakeAzure | undefined;
    steps?: readonly Step[];
    stepsOf?: (options: StepOptions) => readonly Step[];
    assumptions?: readonly Assumption[];
  },
): Command {
  const output = { printed: '', errors: '' };
  const exits: number[] = [];
  const calls: RunEvent[] = [];
  const listeners = new Map<StopSignal, () => void>();
  let isKilled = false;
  let clockMs = 0;
  const target = () => fakeTarget('azure');
  const ended = main(args, {
    print: (text) => {
      output.printed += text;
    },
    printError: (text) => {
      output.errors += text;
    },
    stepsOf,
    readAssumptions: () => assumptions,
    createTargets: { azure: target, simulator: target },
    openAz: ({ signal, write }) =>
      azure && {
        az: {
          call: (words, options) => {
            write({ event: 'call-begun', args: words });
            return azure.call(words, { signal: signal(), ...options });
          },
        },
        kill: () => {
          isKilled = true;
        },
      },
    listen: (signal, listener) => void listeners.set(signal, listener),
    now: () => clockMs,
    exit: (code) => void exits.push(code),
    wait: () => Promise.resolve(),
  });
  return {
    ended,
    exits,
    calls,
    printed: () => output.printed,
    errors: () => output.errors,
    send: (signal, afterMs = 0) => {
      clockMs += afterMs;
      listeners.get(signal)?.();
    },
    killed: () => isKilled,
  };
}
