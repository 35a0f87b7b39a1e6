import { expect, test } from 'vitest';
import { listenToSignals, type StopSignal } from '../../../infra/acceptance/stop-requests.ts';

/** Sends signals, each with its milliseconds after the one before; returns what they cause. */
function after(signals: readonly (readonly [StopSignal, number])[]) {
  const listeners = new Map<StopSignal, () => void>();
  const done: (string | number)[] = [];
  let clock = 5_000;
  const { first, name } = listenToSignals(
    (signal, listener) => void listeners.set(signal, listener),
    () => clock,
    { onFirst: () => done.push('stopping'), endAtOnce: (code) => done.push(code) },
  );
  for (const [signal, milliseconds] of signals) {
    clock += milliseconds;
    listeners.get(signal)?.();
  }
  return { done, isStopping: first.aborted, name: name() };
}

test.for([
  // npm passes Ctrl-C on to a process that has it from the terminal already.
  { name: 'Ctrl-C by the terminal and by npm', first: 'SIGINT', second: 'SIGINT' },
  { name: 'a closed terminal, by the kernel and by the shell', first: 'SIGHUP', second: 'SIGHUP' },
  { name: 'a closed terminal, with a signal of npm', first: 'SIGHUP', second: 'SIGTERM' },
] as const)('one request that arrives twice is one: $name', ({ first, second }) => {
  const signals = [[first, 0] as const, [second, 1_999] as const];
  expect(after(signals)).toEqual({ done: ['stopping'], isStopping: true, name: first });
});

test('a request after two seconds ends the process at once', () => {
  const signals = [['SIGINT', 0] as const, ['SIGINT', 5] as const, ['SIGTERM', 1_995] as const];
  expect(after(signals)).toEqual({ done: ['stopping', 143], isStopping: true, name: 'SIGINT' });
});
