import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

export type ProgramName = 'scheduled-events-bridge' | 'scheduled-events-simulator';

/** `entry`: the file that this program was started with. */
export const runsFromSources = (entry: string): boolean => entry.endsWith('.ts');

/** The command that starts one of the two programs, for messages. */
export function commandFor(program: ProgramName, entry: string, workingDirectory: string = process.cwd()): string {
  if (runsFromSources(entry)) return 'npm start --';
  const folder = dirname(entry);
  if (folder.endsWith(join('node_modules', '.bin'))) return `npx ${program}`;
  return folder.endsWith(`${sep}dist`) ? `node ${join(relative(workingDirectory, folder), `${program}.cjs`)}` : program;
}

/** The file of the bridge beside the simulator's own: a source, or what it was bundled to. */
export const bridgeProgram = (entry: string): string =>
  runsFromSources(entry)
    ? join(dirname(entry), '..', 'main.ts')
    : join(dirname(realpathSync(entry)), 'scheduled-events-bridge.cjs');

/** Where examples of clients are: in a clone, or beside the program in its npm package or image. Null: there are none. */
export function clientsPage(entry: string): string | null {
  if (runsFromSources(entry)) return 'infra/examples/local-azure.md';
  if (!existsSync(entry)) return null;
  const beside = join(dirname(realpathSync(entry)), 'README.md');
  return existsSync(beside) ? beside : null;
}
