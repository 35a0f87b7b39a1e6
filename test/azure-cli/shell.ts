import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const subscription = '/subscriptions/11111111-2222-4333-8444-555555555555';
/** What `az` prints here for every call. */
export const virtualMachine = `${subscription}/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/web_3`;
const scaleSet = `${subscription}/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/web`;

/** Values for what a reader has to put in. Any other placeholder becomes a word. */
const values: Readonly<Record<string, string>> = {
  '<workspace resource id>': `${subscription}/resourceGroups/rg/providers/Microsoft.OperationalInsights/workspaces/log`,
  '<gallery resource id>': `${subscription}/resourceGroups/rg/providers/Microsoft.Compute/galleries/gal`,
  '<identityResourceId>': `${subscription}/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id`,
  '<principal id>': '66666666-7777-4888-8999-000000000000',
};

export const filledIn = (line: string): string =>
  line
    .replace(/<\w[\w ]*>/g, (placeholder) => values[placeholder] ?? placeholder.slice(1, -1).replaceAll(' ', '-'))
    .replaceAll('…', 'something');

/** The programs that lines may use beside `az`. */
const programs = ['cat', 'grep', 'head', 'tail', 'xargs'];

/** A folder in which bash runs lines with an `az` that only writes down how it was called. */
export interface Shell {
  /** The arguments of each call of `az`, in order; each line runs once. @throws where bash or another program reports an error. */
  callsOf(line: string): readonly (readonly string[])[];
  close(): void;
}

export function createShell(): Shell {
  const folder = mkdtempSync(join(tmpdir(), 'az-lines-'));
  const bash = which('bash');
  const calls = join(folder, 'calls');
  for (const program of programs) symlinkSync(which(program), join(folder, program));
  // A list of Resource Graph begins with the token of its next page, which the last page has not.
  const az = `#!${bash}
printf '%s\\0' "$@" >> '${calls}'
printf '\\n' >> '${calls}'
[ "$1 $2" = 'graph query' ] && echo
echo '${virtualMachine}'
[ "$1 $2" = 'graph query' ] && echo '${scaleSet}'
exit 0
`;
  writeFileSync(join(folder, 'az'), az);
  chmodSync(join(folder, 'az'), 0o755);
  writeFileSync(join(folder, 'ids'), `${virtualMachine}\n${scaleSet}\n`);
  const run = (line: string): readonly (readonly string[])[] => {
    writeFileSync(calls, '');
    const { status, stderr } = spawnSync(bash, ['--norc', '-c', line], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: folder },
      timeout: 10_000,
    });
    if (status !== 0 || stderr !== '') throw new Error(`bash ends with ${status} (${stderr.trim()}): ${line}`);
    const written = readFileSync(calls, 'utf8');
    return written
      .split('\0\n')
      .slice(0, -1)
      .map((call) => call.split('\0'));
  };
  const known = new Map<string, ReturnType<typeof run>>();
  return {
    callsOf(line) {
      const made = known.get(line) ?? run(line);
      known.set(line, made);
      return made;
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}

function which(program: string): string {
  const { stdout } = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' });
  if (!stdout) throw new Error(`${program} is not in ${process.env.PATH?.split(delimiter).join(', ')}`);
  return stdout.trim();
}
