import { win32 } from 'node:path';

/** A program of Windows by its full path: Windows would search the working directory first. */
export const windowsProgram = ({ SystemRoot }: NodeJS.ProcessEnv, ...below: readonly string[]): string =>
  win32.join(SystemRoot ?? 'C:\\Windows', 'System32', ...below);
