import { Command } from 'commander';
import type { Verb } from '../../../src/cli/command-context.ts';
import { type ExitReason, Failure } from '../../../src/cli/exit-codes.ts';

/** How a command ended: what it printed, and why it failed, if it did. */
export interface Ended {
  readonly out: string;
  readonly reason: ExitReason | 'commander' | null;
  readonly message: string;
}

/** Runs one verb in this process, as the program would. */
export async function runVerb(verb: Verb, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  let out = '';
  const print = (text: string): void => {
    out += text;
  };
  const program = new Command('scheduled-events-bridge')
    .helpCommand(false)
    .configureOutput({ writeOut: print, writeErr: () => {}, outputError: () => {} })
    .exitOverride();
  verb(program, { env, stop: new AbortController().signal, print });
  try {
    await program.parseAsync(['node', 'main.ts', ...args]);
    return { out, reason: null, message: '' };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof Failure) return { out, reason: error.reason, message: error.message };
    if (error.constructor.name !== 'CommanderError') throw error;
    return { out, reason: 'commander', message: error.message };
  }
}
