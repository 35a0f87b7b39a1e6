import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Mutant } from '@stryker-mutator/api/core';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { root } from '../support/source-tree.ts';

export const areas = ['lifecycle', 'outbox', 'relay'] as const;
export type Area = (typeof areas)[number];

/** One change of one expression or statement of the product. */
export interface MutantAt {
  /** Relative to the root of the repository. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Stryker's name of the kind of change: https://stryker-mutator.io/docs/mutation-testing-elements/supported-mutators */
  readonly mutator: string;
  readonly original: string;
  readonly replacement: string;
}

const silent = () => {};
const log = {
  ...{ isTraceEnabled: () => false, isDebugEnabled: () => false, isInfoEnabled: () => false },
  ...{ isWarnEnabled: () => false, isErrorEnabled: () => false, isFatalEnabled: () => false },
  ...{ trace: silent, debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
};

/** The same whenever Stryker lists a mutant. `first` is its first line and column: 0 in a mutant, 1 in a result. */
export function keyOf({ fileName, location: { start, end }, replacement }: Mutant, folder: string, first = 0): string {
  const place = [start.line, start.column, end.line, end.column].map((at) => at - first).join(':');
  return `${relative(folder, fileName)}:${place}:${replacement}`;
}

function textAt(lines: readonly string[], { start, end }: Mutant['location']): string {
  const text = lines.slice(start.line, end.line + 1);
  text[text.length - 1] = text.at(-1)?.slice(0, end.column) ?? '';
  text[0] = text[0]?.slice(start.column) ?? '';
  return text.join('\n');
}

/** Every mutant that Stryker makes of these files, by its key. */
export async function listMutants(files: readonly string[]): Promise<ReadonlyMap<string, MutantAt>> {
  const contents = new Map(files.map((file) => [join(root, file), readFileSync(join(root, file), 'utf8')]));
  const sources = [...contents].map(([name, content]) => ({ name, content, mutate: true }));
  const options = { plugins: null, excludedMutations: [], ignorers: [], noHeader: false };
  const { mutants } = await new Instrumenter(log).instrument(sources, options);
  const linesOf = new Map([...contents].map(([name, content]) => [name, content.split('\n')]));
  return new Map(
    mutants.map((mutant) => [
      keyOf(mutant, root),
      {
        file: relative(root, mutant.fileName),
        line: mutant.location.start.line + 1,
        mutator: mutant.mutatorName,
        original: textAt(linesOf.get(mutant.fileName) ?? [], mutant.location),
        replacement: mutant.replacement,
      },
    ]),
  );
}

/** Its loops over every byte of a log take minutes with Stryker's counters in them. */
const tooSlow = 'src/outbox/store/log-check.ts';

export const filesOf = (area: Area): string[] =>
  globSync(`src/${area}/**/*.ts`, { cwd: root })
    .filter((file) => file !== tooSlow)
    .sort();

/** `count` of them, the same for the same seed: those with the smallest hashes. */
export function sample(keys: Iterable<string>, count: number, seed: number): string[] {
  const hashOf = (key: string) => createHash('sha256').update(`${seed}:${key}`).digest('hex');
  const hashed = [...keys].map((key) => ({ key, hash: hashOf(key) }));
  hashed.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  return hashed.slice(0, count).map(({ key }) => key);
}
