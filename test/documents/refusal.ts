import type { Command } from 'commander';
import { createProgram as createSimulator } from '../../src/azure-simulator/cli/program.ts';
import { createProgram as createBridge } from '../../src/cli/program.ts';

/** Why the program that has the command would refuse its command line; null if it accepts it. Carries nothing out. */
export function refusalOf(words: readonly string[]): string | null {
  const programs = [createBridge, createSimulator].map((create) =>
    create({ env: {}, stop: new AbortController().signal, print: () => {} }),
  );
  const program = programs.find(({ commands }) => commands.some((one) => one.name() === words[0])) ?? programs[0];
  if (program === undefined) return 'there is no program';
  const prepare = (command: Command): void => {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
    if (command.commands.length === 0) command.action(() => {});
    command.commands.forEach(prepare);
  };
  prepare(program);
  try {
    program.parse(words, { from: 'user' });
    return null;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code === 'commander.helpDisplayed' ? null : message;
  }
}
