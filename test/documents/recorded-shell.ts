import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Runs command lines in bash with programs that only record how they were called. */
export interface RecordedShell {
  /** Program and arguments of each call, in order. @throws where bash reports an error, such as a program that is not known. */
  callsOf(lines: string): readonly (readonly string[])[];
  close(): void;
}

/**
 * @param programs names, or paths relative to the working directory.
 * @param sourced files that a line may source, which are empty.
 */
export function createRecordedShell(programs: readonly string[], sourced: readonly string[]): RecordedShell {
  const folder = mkdtempSync(join(tmpdir(), 'command-lines-'));
  const calls = join(folder, 'calls');
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    chmodSync(join(folder, path), 0o755);
  };
  mkdirSync(calls);
  for (const program of programs) {
    const name = program.includes('/') ? program : join('bin', program);
    // A file for each call: the programs of a pipe run at the same time.
    write(name, `#!/bin/bash\nprintf '%s\\0' '${program}' "$@" > '${calls}'/$EPOCHREALTIME-$$\necho something\n`);
  }
  write('bin/sudo', '#!/bin/bash\nexec "$@"\n');
  for (const path of sourced) write(path, '');
  return {
    callsOf(lines) {
      for (const file of readdirSync(calls)) rmSync(join(calls, file));
      const { status, stderr } = spawnSync('/bin/bash', ['--norc', '-e', '-c', lines], {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: join(folder, 'bin') },
        timeout: 10_000,
      });
      if (status !== 0 || stderr !== '') throw new Error(`bash ends with ${status} (${stderr.trim()}): ${lines}`);
      const files = readdirSync(calls).toSorted();
      return files.map((file) => readFileSync(join(calls, file), 'utf8').split('\0').slice(0, -1));
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
