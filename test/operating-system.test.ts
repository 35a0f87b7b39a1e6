import { describe, expect, test } from 'vitest';
import { getSddl, keepFileFromOthers, keepFolderFromOthers } from '../src/check/windows-access.ts';
import { linux, type OperatingSystem, operatingSystemOf, windows } from '../src/operating-system.ts';
import { linuxWords } from './support/linux-words.ts';
import { createPowerShellReader } from './support/powershell.ts';

const path = "D:\\o'brien & sons\\state";
const url = 'http://169.254.169.254/metadata/instance?api-version=2021-02-01&format=json';

/** Every command to paste, by its name. */
const commandsOf = (system: OperatingSystem): Readonly<Record<string, string>> => ({
  startService: system.startService,
  restartService: system.restartService,
  showServiceLog: system.showServiceLog,
  bridge: system.bridge('outbox list --state dead'),
  setClock: system.setClock,
  showFreeSpace: system.showFreeSpace(path),
  showAccess: system.showAccess(path),
  removeFile: system.removeFile(path),
  probePort: system.probePort('x.servicebus.windows.net', 5671),
  showCertificate: system.showCertificate('x.servicebus.windows.net', 443),
  showCertificateThroughProxy: system.showCertificate('x.servicebus.windows.net', 443, 'proxy:3128'),
  askMetadata: system.askMetadata(url),
});

const powershell = await createPowerShellReader();

const namesIn = (line: string): readonly string[] =>
  powershell.read(line, (root) => root.descendantsOfType('command_name').flatMap((node) => node?.text ?? []));

describe('on Windows', () => {
  const commands = {
    ...commandsOf(windows),
    getSddl,
    keepFile: keepFileFromOthers(path),
    keepFolder: keepFolderFromOthers(path),
  };

  test('PowerShell reads every command, which names only what Windows has', () => {
    const names = Object.values(commands).flatMap(namesIn);
    expect(new Set(names)).toEqual(
      new Set([
        'Start-Service',
        'Restart-Service',
        'Get-Content',
        'Get-WinEvent',
        'w32tm',
        'Get-PSDrive',
        'icacls',
        'Remove-Item',
        'Test-NetConnection',
        'New-Object',
        'curl.exe',
        'Invoke-RestMethod',
        'ConvertTo-Json',
        'Get-Acl',
      ]),
    );
  });

  test.for(Object.entries(commands))('%s is for Windows PowerShell 5.1 and has no word of Linux', ([, line]) => {
    expect(powershell.faultsIn(line)).toEqual([]);
    expect(line).not.toMatch(linuxWords);
    expect(line).not.toContain('\n');
  });

  test('a path with blanks, quotation marks and operators stays one word', () => {
    expect(windows.removeFile(path)).toBe("Remove-Item -LiteralPath 'D:\\o''brien & sons\\state'");
  });
});

test('the commands of Linux are another column of the same table', () => {
  expect(Object.keys(commandsOf(linux))).toEqual(Object.keys(commandsOf(windows)));
  expect([operatingSystemOf('linux'), operatingSystemOf('win32'), operatingSystemOf('darwin')]).toEqual([
    linux,
    windows,
    linux,
  ]);
});
