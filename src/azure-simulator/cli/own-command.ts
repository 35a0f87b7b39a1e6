import { relative, sep } from 'node:path';

/** Whether this program runs from its sources. `entry`: the file that it was started with. */
export const runsFromSources = (entry: string): boolean => entry.endsWith('.ts');

/** How a person starts this program again, for the commands that messages show. */
export function ownCommand(entry: string, workingDirectory: string = process.cwd()): string {
  if (runsFromSources(entry)) return 'npm start --';
  return entry.includes(`${sep}dist${sep}`) ? `node ${relative(workingDirectory, entry)}` : 'scheduled-events-bridge';
}
