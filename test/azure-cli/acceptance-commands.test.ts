import { describe, expect, test } from 'vitest';
import { readTree } from '../support/source-tree.ts';
import { commandModules } from './acceptance-commands.ts';
import { refusalsOf, whyNoAzureCli } from './azure-cli.ts';

/** Exported functions of these modules that return something else. */
const others: readonly string[] = ['shown'];

const missing = whyNoAzureCli();
if (missing !== null) {
  console.warn(
    `  skipped: what the parser of the Azure CLI says of an acceptance run (${missing}); test/azure-cli/prepare fetches it`,
  );
}

test('every module with argument lists of an acceptance run is here', () => {
  const modules = [...readTree('infra/acceptance/**/*commands.ts').keys()];
  expect(commandModules.map(({ path }) => path).toSorted()).toEqual(modules);
});

describe.for(commandModules)('$path', ({ module, samples }) => {
  const builders = Object.entries(module).filter(
    ([name, value]) => typeof value === 'function' && !others.includes(name),
  );

  test('every builder has a call here', () => {
    expect(Object.keys(samples).toSorted()).toEqual(builders.map(([name]) => name).toSorted());
  });

  test('every command that creates or changes something names the subscription', () => {
    const calls = Object.values(samples).flat();
    const withoutSubscription = /^(version|login|account list|account show$|ad |bicep |rest )/;
    expect(
      calls.filter((call) => !withoutSubscription.test(call.join(' ')) && !call.includes('--subscription')),
    ).toEqual([]);
  });

  test.skipIf(missing !== null)('the Azure CLI accepts each call', { timeout: 300_000 }, () => {
    const calls = Object.entries(samples).flatMap(([name, of]) => of.map((call) => ({ name, call })));
    const refusals = refusalsOf(calls.map(({ call }) => call));
    expect(
      calls.flatMap(({ name }, index) => (refusals[index] === null ? [] : { name, said: refusals[index] })),
    ).toEqual([]);
  });
});
