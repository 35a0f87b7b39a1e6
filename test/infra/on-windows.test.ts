import { expect, test } from 'vitest';
import { refusals } from '../../src/service/refusals.ts';
import { preflight, type WindowsFacts } from '../../src/service/windows/facts.ts';
import { windowsPlaces } from '../../src/service/windows/places.ts';
import { readTree } from '../support/source-tree.ts';
import { inBackticks, rows, section, textOfDocument } from './read-documents.ts';

const page = textOfDocument('install-windows.md');
const places = windowsPlaces({ programFiles: '%ProgramFiles%', programData: '%ProgramData%' });

test('the places on a Windows machine are those of the installer', () => {
  const shown = inBackticks(page).join('\n');
  const { home, configuration, state, logs, command } = places;
  for (const place of [home, configuration, state, logs, command]) expect(shown).toContain(place.replaceAll('/', '\\'));
  const inPowerShell = (place: string, variable = 'ProgramFiles'): string =>
    place.replace('%ProgramFiles%', `$env:${variable}`).replaceAll('/', '\\');
  // Run Command may run it in a 32-bit PowerShell.
  expect(page).toContain(`& "${inPowerShell(places.remover, 'ProgramW6432')}"`);
  expect(page).toContain(`& "${inPowerShell(places.versions)}\\<version before>\\update.cmd"`);
});

test('a command that Azure runs on a VM finds the program also from a 32-bit PowerShell', () => {
  const lines = [...readTree('infra/*.md'), ...readTree('infra/alerts/on-call.md')]
    .map(([, text]) => text)
    .join('\n')
    .split('\n')
    .flatMap((line) => /run-command invoke.*/.exec(line) ?? [])
    .filter((command) => command.includes('RunPowerShellScript'));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatch(/^(?!.*env:ProgramFiles).*env:ProgramW6432/);
});

const fit: WindowsFacts = {
  ...{ processor: 'x64', release: '10.0.20348', isElevated: true, isArc: false, linked: null, foreign: null },
  ...{ freeForVersions: 2 ** 40, freeForState: 2 ** 40 },
};
/** What makes the machine of a row what it is. */
const unfitMachines: Readonly<Record<string, Partial<WindowsFacts>>> = {
  'Windows Server 2012 R2 and older, Windows 8.1': { release: '6.3.9600' },
  'Windows on Arm': { processor: 'arm64' },
  '32-bit Windows': { processor: 'ia32' },
  'Azure Arc': { isArc: true },
  'AppLocker or App Control that blocks the runtime or the service host': { isElevated: null },
};
const whereItRuns = rows(section('Where it runs', page));
const refused = whereItRuns.flatMap(([where = '', what = '']) => {
  const [, code] = /^refused, (\d+)$/.exec(what) ?? [];
  return code === undefined ? [] : [{ where, code: Number(code) }];
});

test('the support matrix of Windows has a verdict in each row, and every version of Windows Server', () => {
  expect(whereItRuns.filter(([, verdict = '']) => !/^(tested|expected|refused, \d+)$/.test(verdict))).toEqual([]);
  expect(refused.map(({ where }) => where)).toEqual(Object.keys(unfitMachines));
  const text = whereItRuns.map(([where]) => where).join('\n');
  for (const word of ['2016', '2019', '2022', '2025', 'Server Core', 'Windows 10 and 11', 'Wine'])
    expect(text).toContain(word);
});

test.for(refused)('on Windows $where is refused with $code, as in the support matrix', ({ where, code }) => {
  const refusal = preflight(
    { ...fit, ...unfitMachines[where] },
    { platform: 'win-x64', bytes: 0, starts: true },
    places,
  );
  expect(refusals[refusal?.reason as keyof typeof refusals].code).toBe(code);
});
