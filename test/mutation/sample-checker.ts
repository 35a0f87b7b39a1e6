import { readFileSync } from 'node:fs';
import { type CheckResult, CheckStatus } from '@stryker-mutator/api/check';
import type { Mutant } from '@stryker-mutator/api/core';
import { PluginKind } from '@stryker-mutator/api/plugin';
import { keyOf } from './mutants.ts';

/** The environment variable with the path of a JSON file: the keys of the mutants that are tested. */
export const sampleVariable = 'MUTATION_SAMPLE';

/** Stryker has no option for a sample. It skips a mutant that a checker says does not compile, so this says it of all others. */
class SampleChecker {
  #sample: ReadonlySet<string> = new Set();

  async init(): Promise<void> {
    this.#sample = new Set(JSON.parse(readFileSync(process.env[sampleVariable] ?? '', 'utf8')));
  }

  async check(mutants: readonly Mutant[]): Promise<Record<string, CheckResult>> {
    return Object.fromEntries(
      mutants.map((mutant) => [
        mutant.id,
        this.#sample.has(keyOf(mutant, process.cwd()))
          ? { status: CheckStatus.Passed }
          : { status: CheckStatus.CompileError, reason: 'not in the sample' },
      ]),
    );
  }

  async group(mutants: readonly Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }
}

/** Stryker loads this file as a plugin. */
export const strykerPlugins = [
  {
    kind: PluginKind.Checker,
    name: 'sample',
    factory: Object.assign(() => new SampleChecker(), { inject: [] as const }),
  },
];
