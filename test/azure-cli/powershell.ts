import type { Node } from 'web-tree-sitter';
import { createPowerShellReader } from '../support/powershell.ts';
import { virtualMachine } from './shell.ts';

/** Reads lines as PowerShell does and hands the words to `az` as Windows does. */
export interface PowerShell {
  /** The arguments of each call of `az`, in order. @throws where the line is not one command, or a word would arrive changed. */
  callsOf(line: string): readonly (readonly string[])[];
}

export async function createPowerShell(): Promise<PowerShell> {
  const reader = await createPowerShellReader();
  return {
    callsOf: (line) =>
      reader.read(line, (root) => {
        const calls: string[][] = [];
        run(root, calls);
        return calls;
      }),
  };
}

/** Carries out the one command of a statement, after those that are nested in its words. */
function run(statement: Node, calls: string[][]): void {
  const command = commandOf(statement);
  const elements = command.childForFieldName('command_elements')?.namedChildren ?? [];
  const words = elements.filter(({ type }) => type !== 'command_argument_sep').map((word) => textOf(word, calls));
  if (command.childForFieldName('command_name')?.text === 'az') calls.push(words.map(throughBatchFile));
}

function commandOf(node: Node): Node {
  if (node.type === 'command') return node;
  const [only, ...more] = node.namedChildren;
  if (!only || more.length > 0) throw new Error(`PowerShell takes this for more than one command: ${node.text}`);
  return commandOf(only);
}

function textOf(word: Node, calls: string[][]): string {
  if (word.type === 'generic_token' || word.type === 'command_parameter') return word.text;
  const text = word.type === 'array_literal_expression' ? word.descendantsOfType('string_literal')[0] : undefined;
  if (text?.text !== word.text) throw new Error(`PowerShell takes this for an expression: ${word.text}`);
  const inside = text.text.slice(1, -1);
  if (text.text.startsWith("'")) return inside.replaceAll("''", "'");
  const [nested, ...more] = (text.namedChildren[0]?.namedChildren ?? []).filter(({ type }) => type !== 'ERROR');
  if (!nested) return inside;
  if (nested.type !== 'sub_expression' || more.length > 0) throw new Error(`PowerShell replaces ${nested.text}`);
  run(nested, calls);
  return inside.replace(nested.text, virtualMachine);
}

/**
 * On Windows `az` is a batch file. PowerShell puts quotes only around words with blanks, and loses those that are inside a word; without
 * quotes the batch file itself reads what is special to it.
 * https://github.com/Azure/azure-cli/blob/dev/doc/quoting-issues-with-powershell.md
 */
function throughBatchFile(word: string): string {
  if (word === '' || /["%]/.test(word) || (!/\s/.test(word) && /[&|<>^()]/.test(word))) {
    throw new Error(`az.cmd does not get this word as it stands: ${word}`);
  }
  return word;
}
