import type { Command, Option } from 'commander';
import { createProgram } from '../../../src/cli/program.ts';

/** One command of the bridge, for its man page and for the completion of shells. */
export interface CommandEntry {
  /** Without the name of the program; empty for the program itself. */
  readonly words: readonly string[];
  readonly description: string;
  readonly takes: readonly { readonly name: string; readonly isRequired: boolean; readonly description: string }[];
  readonly options: readonly OptionEntry[];
  readonly commands: readonly CommandEntry[];
}

export interface OptionEntry {
  /** As `--config`. */
  readonly long: string;
  /** As `-c`; null: it has none. */
  readonly short: string | null;
  readonly description: string;
  /** Null: it takes none. `kind` is what a shell completes. */
  readonly value: { readonly name: string; readonly kind: 'file' | 'folder' | 'word' } | null;
}

/** The program with all its commands, as `--help` knows them. */
export function commandTable(): CommandEntry {
  return entryOf(createProgram({ env: {}, stop: new AbortController().signal, print: () => {} }), []);
}

/** The program and all commands below it, each before those that it has. */
export const allOf = (entry: CommandEntry): readonly CommandEntry[] => [entry, ...entry.commands.flatMap(allOf)];

function entryOf(command: Command, words: readonly string[]): CommandEntry {
  const help: OptionEntry = { long: '--help', short: '-h', description: 'show this help', value: null };
  return {
    words,
    description: command.description(),
    takes: command.registeredArguments.map((one) => ({
      name: one.name(),
      isRequired: one.required,
      description: one.description,
    })),
    options: [...command.options.filter(({ hidden }) => !hidden).map(optionOf), help],
    commands: command.commands.map((one) => entryOf(one, [...words, one.name()])),
  };
}

function optionOf({ long, short, flags, description }: Option): OptionEntry {
  if (!long) throw new Error(`The option ${flags} has no long form.`);
  const [, name] = /[<[](\w+)[>\]]/.exec(flags) ?? [];
  const kind = name === 'file' ? 'file' : name === 'folder' || name === 'directory' ? 'folder' : 'word';
  return { long, short: short ?? null, description, value: name === undefined ? null : { name, kind } };
}
