import { execFile } from 'node:child_process';
import { win32 } from 'node:path';
import { onlyFor, serviceSid } from '../service/windows/acl.ts';
import { type AccessRights, rightsIn } from './sddl.ts';

/** PowerShell takes a second to start on a small VM. */
const answerMs = 15_000;

// assumption: windows-access-rights
/** The path comes by the environment: no character of it can then be read as a command. */
export const getSddl = '(Get-Acl -LiteralPath $env:ACCESS_TO -ErrorAction Stop).Sddl';

/** Who may read and change this file or folder; null on Linux, and where this user may not see it. Never rejects. */
export async function accessTo(
  path: string,
  platform: NodeJS.Platform = process.platform,
  query: (path: string) => Promise<string | null> = queryPowerShell,
): Promise<AccessRights | null> {
  if (platform !== 'win32') return null;
  const sddl = await query(path);
  return sddl === null ? null : rightsIn(sddl.trim());
}

function queryPowerShell(path: string): Promise<string | null> {
  const program = win32.join(
    process.env.SystemRoot ?? 'C:\\Windows',
    'System32\\WindowsPowerShell\\v1.0\\powershell.exe',
  );
  const options = { env: environmentFor(path, process.env), timeout: answerMs, windowsHide: true };
  return new Promise((resolve) => {
    execFile(program, ['-NoProfile', '-NonInteractive', '-Command', getSddl], options, (error, stdout) =>
      resolve(error ? null : stdout),
    );
  });
}

/**
 * Without the folders of modules: below PowerShell 7 they are those of that version, from which Windows PowerShell cannot load Get-Acl.
 * https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_psmodulepath
 */
export const environmentFor = (path: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => name.toLowerCase() !== 'psmodulepath')),
  ACCESS_TO: path,
});

const service = serviceSid('scheduled-events-bridge');

const inPowerShell = (args: readonly string[]): string =>
  ['icacls', ...args.map((arg) => `'${arg.replaceAll("'", "''")}'`)].join(' ');

/** The command of PowerShell that leaves a file to the system, administrators and the service, which may read it. */
export const keepFileFromOthers = (path: string): string => inPowerShell(onlyFor('file', path, service, 'read'));

/** The same for a folder and all that is in it; the service may change it. */
export const keepFolderFromOthers = (path: string): string => inPowerShell(onlyFor('folder', path, service, 'write'));
