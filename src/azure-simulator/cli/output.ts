import type { CommandContext } from '../../cli/command-context.ts';
import { openLog } from '../../process/open-log.ts';

/** What `simulate` prints while it runs. */
export interface Output {
  /** What happens, as text; not printed with `--json`. */
  readonly print: (text: string, at?: Date) => void;
  /** A problem; logged with `--json`. */
  readonly warn: (text: string) => void;
}

export async function openOutput(print: CommandContext['print'], { json }: { readonly json?: true }): Promise<Output> {
  if (json) {
    const log = await openLog('warn');
    return { print: () => {}, warn: (text) => log.warn({ part: 'simulate' }, text) };
  }
  const printLine: Output['print'] = (text, at = new Date()) => print(`${at.toISOString()}  ${text}\n`);
  return { print: printLine, warn: printLine };
}
