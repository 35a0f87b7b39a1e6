import { createRequire } from 'node:module';
import { Language, type Node, Parser } from 'web-tree-sitter';

/** A reader of Bicep that shares nothing with ours: what it cannot parse is not left in the repository. */
export interface SecondReader {
  /** The lines at which it stumbles. */
  errors(source: string): readonly number[];
}

/**
 * The grammar of tree-sitter, which many editors use. It reports syntax errors; its tree is not used, since it binds
 * operators otherwise than Bicep does (`a => b && c.d` is to it the member `d` of a lambda).
 */
export async function createSecondReader(): Promise<SecondReader> {
  await Parser.init();
  const wasm = createRequire(import.meta.url).resolve('tree-sitter-bicep/tree-sitter-bicep.wasm');
  const parser = new Parser();
  parser.setLanguage(await Language.load(wasm));
  return {
    errors(source) {
      // It has no rule for `param name = value` of a parameter file; metadata reads the same.
      const tree = parser.parse(source.replace(/^param (\w+) =/gm, 'metadata $1 ='));
      if (tree === null) return [1];
      try {
        return tree.rootNode.hasError ? linesOf(tree.rootNode) : [];
      } finally {
        tree.delete();
      }
    },
  };
}

function linesOf(node: Node): number[] {
  if (node.isError || node.isMissing) return [node.startPosition.row + 1];
  return node.children.flatMap((child) => (child?.hasError ? linesOf(child) : []));
}
