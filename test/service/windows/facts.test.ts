import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forbids, preflight, type WindowsFacts } from '../../../src/service/windows/facts.ts';
import { foldersOf, windowsPlaces } from '../../../src/service/windows/places.ts';
import { programsOf } from '../../../src/service/windows/tools.ts';

const fit: WindowsFacts = {
  ...{ processor: 'x64', release: '10.0.14393', isElevated: true, isArc: false, linked: null, foreign: null },
  ...{ freeForVersions: 2 ** 40, freeForState: 2 ** 40 },
};
const places = windowsPlaces({ programFiles: '/Program Files', programData: '/ProgramData' });
const need = { platform: 'win-x64', bytes: 120 * 2 ** 20, starts: true };

test.each<[string, Partial<WindowsFacts>, string, RegExp]>([
  ['another processor', { processor: 'arm64' }, 'unsupported', /for win-x64, and this machine is win-arm64/],
  ['an old Windows', { release: '6.3.9600' }, 'unsupported', /Windows 6\.3\.9600, .* Windows Server 2016/],
  ['a release that is no number', { release: '' }, 'unsupported', /Windows Server 2016/],
  ['Azure Arc', { isArc: true }, 'unsupported', /Azure Arc/],
  ['no rights of an administrator', { isElevated: false }, 'notDone', /Run as administrator/],
  ['no service host', { isElevated: null }, 'missing', /scheduled-events-bridge-service\.exe does not run/],
  ['a link among the data', { linked: '/ProgramData/x' }, 'notDone', /ProgramData\/x is a link/],
  ['data of another user', { foreign: '/ProgramData/x' }, 'notDone', /ProgramData\/x belongs to another user/],
  ['no space for the version', { freeForVersions: 1 }, 'missing', /space in .*Program Files.*: 1 MB free, and 184 MB/],
  ['no space for the state', { freeForState: 1 }, 'missing', /space for the state/],
])('a machine with %s is refused', (_, facts, reason, message) => {
  expect(preflight({ ...fit, ...facts }, need, places)).toMatchObject({
    reason,
    message: expect.stringMatching(message),
  });
});

test('Windows Server 2016 and newer are fit', () => {
  for (const release of ['10.0.14393', '10.0.26100', '11.0.1']) {
    expect(preflight({ ...fit, release }, need, places)).toBeNull();
  }
  expect(forbids(fit)).toBeNull();
});

test('programs are started by their full path, since Windows searches the working directory first', () => {
  const programs = programsOf({ SystemRoot: '/W' }, '/package/node.exe');
  expect(programs.sc).toBe(join('/W', 'System32', 'sc.exe'));
  expect(programs.host).toBe('/package/scheduled-events-bridge-service.exe');
});

test('a 32-bit program that starts the installer does not change the folder of programs', () => {
  expect(foldersOf({ ProgramFiles: 'C:\\Program Files (x86)', ProgramW6432: 'D:\\Programs' })).toEqual({
    programFiles: 'D:\\Programs',
    programData: 'C:\\ProgramData',
  });
});
