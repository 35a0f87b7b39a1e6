import { createInterface } from 'node:readline/promises';
import { Failure } from '../exit-codes.ts';

/** Where a person is asked. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

/**
 * Asks a person; only `y` and `yes` are a yes.
 * @throws Failure where nobody can be asked.
 */
export async function confirmed(question: string, { input, output }: Terminal, stop: AbortSignal): Promise<boolean> {
  if (!input.isTTY) {
    throw new Failure('usage', `${question} There is no terminal to ask at: say --yes if that is meant.`);
  }
  const asking = createInterface({ input, output });
  try {
    const answer = await asking.question(`${question} Go on? [y/N] `, { signal: stop });
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    if (stop.aborted) return false;
    throw error;
  } finally {
    asking.close();
  }
}
