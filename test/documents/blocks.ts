import { readTree } from '../support/source-tree.ts';

export const documents = readTree('README.md', '.github/**/*.md', '{src,test,infra,bicep}/**/*.md');

/** A fenced block of a document, or commands within a sentence. */
export interface Block {
  readonly path: string;
  readonly language: string;
  readonly text: string;
}

export const fencedBlocks = (): readonly Block[] =>
  [...documents].flatMap(([path, text]) =>
    [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^\1```$/gm)].map(([, , language = '', inside = '']) => ({
      path,
      language,
      text: inside,
    })),
  );
