import type { CommandContext } from '../../cli/command-context.ts';
import { openLog } from '../../process/open-log.ts';

/** What is said while it runs. */
export interface Voice {
  /** What happens, for a person who watches; said to nobody with `--json`. */
  readonly tell: (text: string, at?: Date) => void;
  /** What does not work; with `--json` it goes to the log. */
  readonly warn: (text: string) => void;
}

export async function openVoice(print: CommandContext['print'], { json }: { readonly json?: true }): Promise<Voice> {
  if (json) {
    const log = await openLog('warn');
    return { tell: () => {}, warn: (text) => log.warn({ part: 'simulate' }, text) };
  }
  const tell: Voice['tell'] = (text, at = new Date()) => print(`${at.toISOString()}  ${text}\n`);
  return { tell, warn: tell };
}
