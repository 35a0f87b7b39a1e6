import type { CommandContext } from '../../cli/command-context.ts';
import { openLog } from '../../process/open-log.ts';

/** What is said while it runs. */
export interface Output {
  /** What happens, for a person who watches; said to nobody with `--json`. */
  readonly print: (text: string, at?: Date) => void;
  /** What does not work; with `--json` it goes to the log. */
  readonly warn: (text: string) => void;
}

export async function openOutput(print: CommandContext['print'], { json }: { readonly json?: true }): Promise<Output> {
  if (json) {
    const log = await openLog('warn');
    return { print: () => {}, warn: (text) => log.warn({ part: 'simulate' }, text) };
  }
  const tell: Output['print'] = (text, at = new Date()) => print(`${at.toISOString()}  ${text}\n`);
  return { print: tell, warn: tell };
}
