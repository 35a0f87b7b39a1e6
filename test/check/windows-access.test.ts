import { expect, test } from 'vitest';
import { accessTo, environmentFor, keepFileFromOthers, keepFolderFromOthers } from '../../src/check/windows-access.ts';

const query = (answer: string | null) => async (path: string) => (path === 'C:\\c.json' ? answer : null);

test('who may read a file is asked on Windows only', async () => {
  const open = query('O:BAG:SYD:AI(A;ID;FA;;;SY)(A;ID;FR;;;BU)\r\n');
  expect((await accessTo('C:\\c.json', 'win32', open))?.readers).toEqual([{ name: 'Users', isEveryone: true }]);
  expect(await accessTo('C:\\c.json', 'linux', open)).toBeNull();
});

test.each([null, '', '\r\n'])('rights that PowerShell answers with %j are not known', async (answer) => {
  expect(await accessTo('C:\\c.json', 'win32', query(answer))).toBeNull();
});

test('a PowerShell that cannot be started leaves the rights unknown', async () => {
  expect(await accessTo('/etc/passwd', 'win32')).toBeNull();
});

test('Windows PowerShell gets the path, and not the folders of modules of PowerShell 7', () => {
  const env = { SystemRoot: 'C:\\Windows', PSModulePath: 'C:\\program files\\powershell\\7\\Modules' };
  expect(environmentFor('C:\\c.json', env)).toEqual({ SystemRoot: 'C:\\Windows', ACCESS_TO: 'C:\\c.json' });
});

test('the commands that close a file and a folder name accounts by their ids, which are the same in every language', () => {
  const service = 'S-1-5-80-4027410533-1092970159-1799280583-2625524982-4048887831';
  expect(keepFileFromOthers("C:\\o'brien.json")).toBe(
    `icacls 'C:\\o''brien.json' '/inheritance:r' '/grant:r' '*S-1-5-18:(F)' '*S-1-5-32-544:(F)' '*${service}:(R)' '/Q'`,
  );
  expect(keepFolderFromOthers('C:\\state')).toContain(`'*${service}:(OI)(CI)(M)'`);
});
