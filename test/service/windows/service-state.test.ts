import { expect, test } from 'vitest';
import { folderIn, queryIn, type ServiceQuery, unitStateOf } from '../../../src/service/windows/service-state.ts';

const query: ServiceQuery = {
  ...{ state: 'running', processId: 40, win32ExitCode: 0, serviceExitCode: 0 },
  ...{ startType: 'automatic', imagePath: '' },
};
const report = [
  ...['ActiveState=active', 'SubState=running', 'InvocationID=a1', 'MainPID=41', 'NRestarts=2'],
  ...['StatusText=Polling; no open events.', 'ExecMainStatus=1', 'Result=success', 'HostPID=40', ''],
].join('\n');

test('the lines of the service host are read whatever ends them', () => {
  expect(
    queryIn(
      'State=stopped\r\nProcessId=0\r\nWin32ExitCode=1066\r\nServiceExitCode=78\r\nStartType=manual\r\nAccount=x\r\nImagePath="C:\\a=b\\c.exe"\r\n',
    ),
  ).toEqual({
    ...{ state: 'stopped', processId: 0, win32ExitCode: 1066, serviceExitCode: 78, startType: 'manual' },
    imagePath: '"C:\\a=b\\c.exe"',
  });
  expect(queryIn('State=missing\n')).toMatchObject({ state: 'missing', processId: 0, imagePath: '' });
});

test('while its process runs, the report of the service host counts', () => {
  expect(unitStateOf(query, report, null)).toMatchObject({
    ...{ active: 'active', sub: 'running', file: 'enabled', invocation: 'a1', pid: 41, restarts: 2 },
    ...{ message: 'Polling; no open events.', exitStatus: 1, isStale: false },
  });
});

test.each([
  ['another process', { processId: 39 }],
  ['no process', { processId: 0 }],
])('the report of %s does not count: the service is starting', (_, change) => {
  expect(unitStateOf({ ...query, ...change }, report, null)).toMatchObject({
    ...{ active: 'activating', sub: 'start', invocation: null, pid: null },
  });
});

test('without a report the service is starting', () => {
  expect(unitStateOf(query, null, null)).toMatchObject({ active: 'activating', invocation: null });
});

// https://learn.microsoft.com/windows/win32/debug/system-error-codes--1000-1299-: 1066 and 1077.
test.each([
  ['it was stopped', { win32ExitCode: 0 }, { active: 'inactive', result: 'success' }],
  ['it was never started', { win32ExitCode: 1077 }, { active: 'inactive', result: 'success' }],
  [
    'the bridge ended with 78',
    { win32ExitCode: 1066, serviceExitCode: 78 },
    { active: 'failed', exitStatus: 78, result: 'exit code 78', invocation: 'attempt-1' },
  ],
  [
    'Windows could not start it',
    { win32ExitCode: 1053 },
    { active: 'failed', exitStatus: 0, result: 'Windows error 1053, its program did not answer in time' },
  ],
] as const)('stopped, because %s', (_, change, expected) => {
  const stopped = { ...query, state: 'stopped', processId: 0, ...change };
  expect(unitStateOf(stopped, report, { name: 'attempt-1', error: 0 })).toMatchObject(expected);
});

test('a start that was refused counts, whatever ended the one before', () => {
  const stopped = { ...query, state: 'stopped', processId: 0 };
  expect(unitStateOf(stopped, null, { name: 'attempt-2', error: 5 })).toMatchObject({
    ...{ active: 'failed', invocation: 'attempt-2', result: 'Windows error 5, access to its program is denied' },
  });
});

test.each([
  ['automatic', 'running', 'enabled'],
  ['manual', 'running', 'disabled'],
  ['disabled', 'stopped', 'masked'],
  ['', 'missing', ''],
])('the start type %s of a service that is %s is %s to the plan', (startType, state, file) => {
  expect(unitStateOf({ ...query, startType, state }, null, null).file).toBe(file);
});

test.each([
  ['"/p f/versions/1.0.0/scheduled-events-bridge-service.exe"', '1.0.0'],
  ['/P F/Versions/1.0.0/Scheduled-Events-Bridge-Service.EXE', '1.0.0'],
  ['"/p f/versions/1.0.0/other.exe"', null],
  ['"/p f/1.0.0/scheduled-events-bridge-service.exe"', null],
  ['', null],
])('the version in the image path %s is %s', (path, folder) => {
  expect(folderIn(path, '/p f/versions')).toBe(folder);
});
