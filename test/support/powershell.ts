import { createRequire } from 'node:module';
import { Language, type Node, Parser } from 'web-tree-sitter';

/** Parses PowerShell by a grammar, because PowerShell itself is on no package index. */
export interface PowerShellReader {
  /** Calls `use` with the root of the syntax tree. @throws where PowerShell could not parse the text. */
  read<T>(text: string, use: (root: Node) => T): T;
  /** Why PowerShell could not parse the text: no element, or one. */
  faultsIn(text: string): readonly string[];
}

export async function createPowerShellReader(): Promise<PowerShellReader> {
  await Parser.init();
  const wasm = createRequire(import.meta.url).resolve('tree-sitter-powershell/tree-sitter-powershell.wasm');
  const parser = new Parser();
  parser.setLanguage(await Language.load(wasm));
  const read = <T>(text: string, use: (root: Node) => T): T => {
    const tree = parser.parse(text);
    try {
      if (!tree || tree.rootNode.hasError) throw new Error(`PowerShell cannot read ${text}`);
      return use(tree.rootNode);
    } finally {
      tree?.delete();
    }
  };
  return {
    read,
    faultsIn(text) {
      try {
        return read(text, () => []);
      } catch (error) {
        return [(error as Error).message];
      }
    },
  };
}
