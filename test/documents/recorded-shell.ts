import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Runs command lines in bash with programs that only record how they were called. */
export interface RecordedShell {
  /**
   * Of each block of lines, program and arguments of each call, in order. The blocks run one after the other in subshells of one bash.
   * @throws where bash reports an error, such as a program that is not known.
   */
  callsOf(blocks: readonly string[]): readonly (readonly (readonly string[])[])[];
  close(): void;
}

/**
 * @param programs names, or paths relative to the working directory.
 * @param sourced files that a line may source, which are empty.
 */
export function createRecordedShell(programs: readonly string[], sourced: readonly string[]): RecordedShell {
  const folder = mkdtempSync(join(tmpdir(), 'command-lines-'));
  const records = join(folder, 'records');
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    chmodSync(join(folder, path), 0o755);
  };
  for (const program of programs) {
    const name = program.includes('/') ? program : join('bin', program);
    // A file for each call: the programs of a pipe run at the same time.
    write(name, `#!/bin/bash\nprintf '%s\\0' '${program}' "$@" > "$RECORD"/$EPOCHREALTIME-$$\necho something\n`);
  }
  // Where bash itself calls them, a function does the same without starting a process.
  const functions = programs
    .filter((program) => !program.includes('/'))
    .map((program) => `${program}() { record ${program} "$@"; }`);
  write(
    'functions',
    [
      `record() { printf '%s\\0' "$@" > "$RECORD"/$EPOCHREALTIME-$BASHPID; echo something; }`,
      'sudo() { "$@"; }',
      ...functions,
      '',
    ].join('\n'),
  );
  write('bin/sudo', '#!/bin/bash\nexec "$@"\n');
  for (const path of sourced) write(path, '');
  return {
    callsOf(blocks) {
      rmSync(records, { recursive: true, force: true });
      const directories = blocks.map((lines, index) => {
        const directory = join(records, String(index));
        mkdirSync(directory, { recursive: true });
        writeFileSync(join(directory, '.lines'), lines);
        return directory;
      });
      // Bash reads a file as it does what follows -c, and `set -e` ends the subshell at the first error.
      const { status, stderr } = spawnSync(
        '/bin/bash',
        [
          '--norc',
          '-c',
          '. ./functions; for RECORD; do export RECORD; (set -e; . "$RECORD/.lines") 2>"$RECORD/.errors"; echo $? >"$RECORD/.status"; done',
          'bash',
          ...directories,
        ],
        { cwd: folder, encoding: 'utf8', env: { PATH: join(folder, 'bin') }, timeout: 60_000 },
      );
      if (status !== 0 || stderr !== '') throw new Error(`bash ends with ${status} (${stderr.trim()})`);
      return directories.map((directory, index) => {
        const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
        const [ended, errors] = [read('.status').trim(), read('.errors').trim()];
        if (ended !== '0' || errors !== '') throw new Error(`bash ends with ${ended} (${errors}): ${blocks[index]}`);
        const files = readdirSync(directory)
          .filter((name) => !name.startsWith('.'))
          .toSorted();
        return files.map((file) => read(file).split('\0').slice(0, -1));
      });
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
