import { serviceName } from '../names.ts';

// assumption: windows-package-deletes-itself
/**
 * Ends the batch file and runs the rest of the line without it, so that the program may remove the file: cmd.exe reads a batch file
 * line by line, and would fail to read the next one. npm's command files do the same: https://github.com/npm/cmd-shim
 */
const withoutThisFile = 'goto #nowhere 2>nul || title %COMSPEC% &';

const lines = (...text: readonly string[]): string => text.map((line) => `${line}\r\n`).join('');

/**
 * The command, which an administrator runs: the runtime and the program of a version. What is set for other programs of this machine
 * must not load code into it. The line for the second cmd.exe has no quotation marks around it: within them, the first one would take an
 * `&` in a quoted word for the end of the command. `folder` has no character that is special in a command line: it is a version.
 */
export const commandScript = (folder: string): string =>
  lines(
    '@echo off',
    `${withoutThisFile} "%COMSPEC%" /d /c set "NODE_OPTIONS=" ^& set "NODE_PATH=" ^& "%~dp0versions\\${folder}\\node.exe" "%~dp0versions\\${folder}\\${serviceName}.cjs" %*`,
  );

/**
 * `remove.cmd`, which stands outside of all versions. An uninstallation removes the command when only files are left to be removed: if
 * it was cut off after that, they are removed here.
 */
export const removerScript = (): string =>
  lines(
    '@echo off',
    `if not exist "%~dp0${serviceName}.cmd" goto files`,
    `"%~dp0${serviceName}.cmd" service uninstall %*`,
    ':files',
    'rmdir /s /q "%~dp0versions" 2>nul',
    'del /f /q "%~dp0installed.json" "%~dp0windows-service.json" 2>nul',
    `${withoutThisFile} (del /f /q "%~f0" & rmdir "%~dp0." 2>nul & ver >nul)`,
  );

// assumption: windows-installer-in-use
/**
 * Arguments of cmd.exe that delete files in a folder once they are no longer in use, and the folder: a running program cannot delete
 * itself. It ends after a minute; the next installer tries again.
 */
export const laterRemoval = (folder: string): string[] => [
  ...['/d', '/s', '/c'],
  `"for /l %n in (1,1,60) do @(del /f /q "${folder}\\*" 2>nul & rmdir "${folder}" 2>nul & if not exist "${folder}" exit) & ping -n 2 127.0.0.1 >nul"`,
];
