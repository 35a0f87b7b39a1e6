import { createInterface } from 'node:readline/promises';
import { Failure } from '../exit-codes.ts';

/** The terminal on which confirmation is requested. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/**
 * Asks for confirmation; only `y` and `yes` confirm.
 * @throws Failure without a terminal.
 */
export async function confirmed(question: string, { input, output }: Terminal, stop: AbortSignal): Promise<boolean> {
  if (!input.isTTY) {
    throw new Failure('usage', `${question} No terminal to confirm on; pass --yes.`);
  }
  const asking = createInterface({ input, output });
  try {
    const answer = await asking.question(`${question} Continue? [y/N] `, { signal: stop });
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    if (stop.aborted) return false;
    throw error;
  } finally {
    asking.close();
  }
}
