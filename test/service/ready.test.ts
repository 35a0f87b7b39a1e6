import { expect, test } from 'vitest';
import { type ReadinessProbe, verdictOf, waitUntilReady } from '../../src/service/ready.ts';
import { stateIn, type UnitState } from '../../src/service/systemd.ts';
import { createHarness } from './harness.ts';

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

/** A look a second. */
const looks = (...units: readonly UnitState[]): ReadinessProbe[] => units.map((unit, n) => ({ atMs: 1000 * n, unit }));
const times = (count: number, unit: UnitState): UnitState[] => Array.from({ length: count }, () => unit);

const cases: readonly { name: string; seen: ReadinessProbe[]; tells: string }[] = [
  { name: 'nothing was seen yet', seen: [], tells: 'starting' },
  { name: 'it is up for five seconds', seen: looks(...times(6, up)), tells: 'steady' },
  { name: 'it is up for less', seen: looks(...times(5, up)), tells: 'starting' },
  { name: 'the one before is still there', seen: looks(...times(30, old)), tells: 'starting' },
  { name: 'the one before has stopped', seen: looks(old, old, starting, ...times(6, up)), tells: 'steady' },
  { name: 'it needs its time to start', seen: looks(...times(60, starting), ...times(6, up)), tells: 'steady' },
  {
    name: 'it never says that it is up',
    seen: looks(...times(91, starting)),
    tells: 'it has not said for 90 s that it is up',
  },
  { name: 'it is never started', seen: looks(...times(91, old)), tells: 'systemd has not started it for 90 s' },
  { name: 'it is another process each time', seen: looks(...times(5, up), { ...up, pid: 8 }), tells: 'starting' },
  {
    name: 'it ended once and stays up',
    seen: looks(again(1, 1), ...times(6, { ...up, invocation: 'new-2', restarts: 1 })),
    tells: 'steady',
  },
  {
    name: 'it ends again and again',
    seen: looks(...[0, 1, 2, 3].map((n) => again(n, 1))),
    tells: 'it ended again and again, last with exit code 1',
  },
  {
    name: 'it ends again and again, and is being started once more',
    seen: looks(...[0, 1, 2].map((n) => again(n, 200)), { ...starting, invocation: 'new-3', restarts: 3 }),
    tells: 'it ended again and again, last with exit code 200',
  },
  { name: 'another bridge holds its state', seen: looks(again(0, 75)), tells: 'starting' },
  {
    name: 'another bridge goes on holding its state',
    seen: looks(...[0, 1, 2, 3].map((n) => again(n, 75))),
    tells: 'it ended again and again, last with exit code 75: another bridge holds its state directory',
  },
  {
    name: 'the outbox is of a newer version',
    seen: looks(again(0, 76)),
    tells: 'the outbox was written by a newer major version, which is the one to install',
  },
  {
    name: 'it may not be executed',
    seen: looks(again(0, 203)),
    tells: 'it cannot be executed: a file system mounted with noexec, or a security module',
  },
  {
    name: 'systemd has given up',
    seen: looks({ ...up, active: 'failed', result: 'oom-kill' }),
    tells: 'it failed (oom-kill)',
  },
];

test.each(cases)('the verdict where $name', ({ seen, tells }) => {
  const verdict = verdictOf(seen, 'old');
  expect(verdict.kind === 'not-ready' ? verdict.because : verdict.kind).toBe(tells);
});

/** A service whose state is proven with the n-th question. */
async function waited(proofs: readonly string[], unit: UnitState) {
  using harness = createHarness();
  let asked = 0;
  const readiness = await waitUntilReady(
    {
      clock: harness.clock,
      greet: async () => {
        const message = proofs[Math.min(asked, proofs.length - 1)] ?? '';
        asked += 1;
        return message === '' ? { ok: true, reach: { kind: 'connected' } } : { ok: false, message };
      },
    },
    { unit: async () => unit, lastWords: async () => ['{"msg":"No room."}', 'plain'] },
    { before: 'old', stateDirectory: '/state' },
  );
  return { readiness, asked };
}

test('a service that is up is asked until it has written its state', async () => {
  const { readiness, asked } = await waited(['not yet', 'not yet', ''], up);
  expect([readiness, asked]).toEqual([{ ready: true }, 3]);
});

test('a service that never writes its state is not ready, and its log tells why', async () => {
  const { readiness } = await waited(['its disk is full'], up);
  expect(readiness).toEqual({ ready: false, because: 'its disk is full', words: ['No room.', 'plain'] });
});

test('a service that is not up is not asked', async () => {
  const { readiness, asked } = await waited([''], again(0, 78));
  expect([readiness.ready, asked]).toEqual([false, 0]);
});

test('what systemctl shows is read by name, whatever the order', () => {
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
