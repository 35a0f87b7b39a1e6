import { expect, test } from 'vitest';
import { compare } from '../../../../infra/acceptance/recordings/compare.ts';
import { simulatedRecording } from '../../../../infra/acceptance/recordings/simulated-recording.ts';
import { findScenario } from '../../../../src/azure-simulator/scenarios/index.ts';
import { at, begunAt, inSeconds, recordingOf, scheduled } from './plays.ts';

const simulated = (name: string, approvedAfterSeconds: number | null) => {
  const scenario = findScenario(name);
  if (scenario === undefined) throw new Error(`no scenario ${name}`);
  return { recording: simulatedRecording(scenario, { vm: 'orion', approvedAfterSeconds }), records: [] };
};

/** Times in seconds: when it was announced, started and no longer listed, and the notice at the announcement. */
const observed = (entry: typeof scheduled, [first, start, end]: readonly [number, number, number], notice: number) => {
  const announced = { ...entry, NotBefore: inSeconds(first + notice) };
  const started = { ...announced, EventStatus: 'Started', NotBefore: '' };
  return {
    recording: recordingOf([at(0, 5), at(first, 6, announced), at(start, 7, started), at(end, 8)]),
    records: [],
  };
};
const redeploy = {
  ...scheduled,
  EventType: 'Redeploy',
  Description: 'Virtual machine is going to be redeployed as requested by authorized user.',
};
const reboot = {
  ...scheduled,
  Description: 'Virtual machine is going to be restarted as requested by authorized user.',
};

test('a restart with the documented notice has the times of the simulator', () => {
  expect(begunAt.getTime()).toBeGreaterThan(0);
  expect(compare(observed(reboot, [30, 930, 1235], 900), simulated('user-reboot', null))).toEqual([]);
});

test('an approved redeployment starts at its approval, and ends 305 s later', () => {
  expect(compare(observed(redeploy, [30, 70, 375], 600), simulated('user-redeploy', 40))).toEqual([]);
});

test('other times of Azure are differences, each with the time of the simulator', () => {
  expect(compare(observed(redeploy, [30, 730, 1500], 720), simulated('user-redeploy', null))).toMatchObject([
    { kind: 'notice', azure: '720 s', simulator: '600 s', tolerance: '76 s' },
    { kind: 'time-to-start', azure: '700 s', simulator: '600 s', tolerance: '74 s' },
    { kind: 'time-to-end', azure: '770 s', simulator: '305 s', tolerance: '81 s' },
  ]);
});
