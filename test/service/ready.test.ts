import { expect, test } from 'vitest';
import { placesIn } from '../../src/service/linux/places.ts';
import { type ReadinessProbe, verdictOf, waitUntilReady } from '../../src/service/ready.ts';
import type { UnitState } from '../../src/service/system.ts';
import { stateIn } from '../../src/service/unit-state.ts';
import { linuxWords } from '../../src/service/words.ts';
import { createHarness } from './harness.ts';

const words = linuxWords(placesIn());

const up: UnitState = {
  active: 'active',
  sub: 'running',
  file: 'enabled',
  invocation: 'new',
  pid: 7,
  restarts: 0,
  message: '',
  exitStatus: 0,
  result: 'success',
  isStale: false,
  since: null,
};
const old: UnitState = { ...up, invocation: 'old', pid: 6 };
const starting: UnitState = { ...up, active: 'activating', sub: 'start' };
const again = (restarts: number, exitStatus: number): UnitState => ({
  ...up,
  active: 'activating',
  sub: 'auto-restart',
  pid: null,
  invocation: `new-${restarts}`,
  restarts,
  exitStatus,
});

/** One poll a second. */
const probes = (...units: readonly UnitState[]): ReadinessProbe[] => units.map((unit, n) => ({ atMs: 1000 * n, unit }));
const times = (count: number, unit: UnitState): UnitState[] => Array.from({ length: count }, () => unit);

const cases: readonly { name: string; seen: ReadinessProbe[]; expected: string }[] = [
  { name: 'nothing was seen yet', seen: [], expected: 'starting' },
  { name: 'it is up for five seconds', seen: probes(...times(6, up)), expected: 'steady' },
  { name: 'it is up for less than that', seen: probes(...times(5, up)), expected: 'starting' },
  { name: 'the one before is still there', seen: probes(...times(30, old)), expected: 'starting' },
  { name: 'the one before has stopped', seen: probes(old, old, starting, ...times(6, up)), expected: 'steady' },
  { name: 'it needs time to start', seen: probes(...times(60, starting), ...times(6, up)), expected: 'steady' },
  {
    name: 'it never becomes ready',
    seen: probes(...times(91, starting)),
    expected: 'it has not said for 90 s that it is up',
  },
  { name: 'it is never started', seen: probes(...times(91, old)), expected: 'systemd has not started it for 90 s' },
  { name: 'it is another process each time', seen: probes(...times(5, up), { ...up, pid: 8 }), expected: 'starting' },
  {
    name: 'it ended once and is up again',
    seen: probes(again(1, 1), ...times(6, { ...up, invocation: 'new-2', restarts: 1 })),
    expected: 'steady',
  },
  {
    name: 'it ends repeatedly',
    seen: probes(...[0, 1, 2, 3].map((n) => again(n, 1))),
    expected: 'it ended again and again, last with exit code 1',
  },
  {
    name: 'it ends repeatedly, and is being started again',
    seen: probes(...[0, 1, 2].map((n) => again(n, 200)), { ...starting, invocation: 'new-3', restarts: 3 }),
    expected: 'it ended again and again, last with exit code 200',
  },
  { name: 'another bridge holds its state', seen: probes(again(0, 75)), expected: 'starting' },
  {
    name: 'another bridge keeps holding its state',
    seen: probes(...[0, 1, 2, 3].map((n) => again(n, 75))),
    expected: 'it ended again and again, last with exit code 75: another bridge holds its state directory',
  },
  {
    name: 'the outbox is of a newer version',
    seen: probes(again(0, 76)),
    expected: 'the outbox was written by a newer major version, which is the one to install',
  },
  {
    name: 'it cannot be executed',
    seen: probes(again(0, 203)),
    expected: 'it cannot be executed: a file system mounted with noexec, or a security module',
  },
  {
    name: 'systemd stopped restarting it',
    seen: probes({ ...up, active: 'failed', result: 'oom-kill' }),
    expected: 'it failed (oom-kill)',
  },
];

test.each(cases)('the verdict where $name', ({ seen, expected }) => {
  const verdict = verdictOf(seen, 'old', words);
  expect(verdict.kind === 'not-ready' ? verdict.because : verdict.kind).toBe(expected);
});

/** A service whose state is proven with the n-th question. */
async function waited(proofs: readonly string[], unit: UnitState) {
  using harness = createHarness();
  let asked = 0;
  const readiness = await waitUntilReady(
    {
      clock: harness.clock,
      ping: async () => {
        const message = proofs[Math.min(asked, proofs.length - 1)] ?? '';
        asked += 1;
        return message === '' ? { ok: true, reach: { kind: 'connected' } } : { ok: false, message };
      },
    },
    { words, manager: { unit: async () => unit, lastLogLines: async () => ['{"msg":"No room."}', 'plain'] } },
    { before: 'old', stateDirectory: '/state' },
  );
  return { readiness, asked };
}

test('a service that is up is polled until it has written its state', async () => {
  const { readiness, asked } = await waited(['not yet', 'not yet', ''], up);
  expect([readiness, asked]).toEqual([{ ready: true }, 3]);
});

test('a service that never writes its state is not ready, and its log has the reason', async () => {
  const { readiness } = await waited(['its disk is full'], up);
  expect(readiness).toEqual({ ready: false, because: 'its disk is full', words: ['No room.', 'plain'] });
});

test('a service that is not up is not polled', async () => {
  const { readiness, asked } = await waited([''], again(0, 78));
  expect([readiness.ready, asked]).toEqual([false, 0]);
});

test('the properties from systemctl are read by name, in any order', () => {
  const shown =
    'StatusText=Polling; a=b\nMainPID=0\nActiveState=inactive\nInvocationID=\nNRestarts=[not set]\nLoadState=not-found\n';
  expect(stateIn(shown)).toMatchObject({
    active: 'inactive',
    message: 'Polling; a=b',
    pid: null,
    invocation: null,
    restarts: 0,
    file: '',
    isStale: true,
  });
});
