import { expect, test } from 'vitest';
import { stopsOf } from '../../../../infra/acceptance/data/heartbeats.ts';

const played = [
  { operation: 'restart', machine: 'vm-1', requestedAt: '2026-11-22T10:00:00.000Z' },
  { operation: 'redeploy', machine: 'vm-1', requestedAt: '2026-11-22T11:00:00.000Z' },
  { operation: 'evict', machine: 'spot-1', requestedAt: '2026-11-22T10:00:00.000Z' },
] as const;
const afterRestart = { vmName: 'VM-1', at: '2026-11-22T10:16:00.0000000Z' };
const afterEviction = { vmName: 'spot-1', at: '2026-11-22T10:09:00.0000000Z' };

test('a last heartbeat after every operation proves that Azure shuts guests down in order', () => {
  expect(stopsOf(played, [afterRestart, afterEviction])).toEqual({
    verdict: 'proven',
    evidence: 'A heartbeat with the state stopping arrived after restart of vm-1, evict of spot-1.',
  });
});

test.for([
  ['none', []],
  ['one of another VM', [{ ...afterEviction, vmName: 'vm-2' }]],
  ['one of the installation before', [{ ...afterEviction, at: '2026-11-22T09:30:00.0000000Z' }]],
] as const)('%s after an operation refutes it, and the operation is named', ([, stops]) => {
  expect(stopsOf(played, [afterRestart, ...stops])).toEqual({
    verdict: 'refuted',
    evidence: 'No heartbeat with the state stopping arrived after evict of spot-1.',
  });
});

test('one after a later operation on the same VM is not counted for the earlier one', () => {
  const late = { ...afterRestart, at: '2026-11-22T11:10:00.0000000Z' };
  expect(stopsOf(played, [late, afterEviction])).toMatchObject({
    verdict: 'refuted',
    evidence: expect.stringMatching(/after restart of vm-1\.$/),
  });
});

test('a redeployment, and a run without scenarios, show nothing', () => {
  expect(stopsOf(played.slice(1, 2), [])).toBeNull();
  expect(stopsOf([], [afterRestart])).toBeNull();
});
