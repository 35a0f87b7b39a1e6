import { chmodSync, chownSync, lstatSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inspect } from '../../../src/service/linux/inspect.ts';
import type { Places } from '../../../src/service/linux/places.ts';
import { createHarness } from '../harness.ts';

/** As of an account that was removed and made again. */
function renumber(...files: readonly string[]): void {
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/^(scheduled-events-bridge:.*:)\d+(:.*)$/m, '$14711$2'));
  }
}

interface Unguarded {
  readonly name: string;
  readonly spoil: (places: Places) => void;
  readonly needsRoot?: true;
}

const unguarded: readonly Unguarded[] = [
  { name: 'file that others may read', spoil: ({ configuration }) => chmodSync(configuration, 0o644) },
  { name: 'file that the service may not read', spoil: ({ configuration }) => chmodSync(configuration, 0o600) },
  {
    name: 'file that another user may change',
    spoil: ({ configuration }) => chownSync(configuration, 4711, lstatSync(configuration).gid),
    needsRoot: true,
  },
  { name: 'folder that others may enter', spoil: ({ settings }) => chmodSync(settings, 0o755) },
  { name: 'group of another number', spoil: ({ group, passwd }) => renumber(group, passwd), needsRoot: true },
];

test.for(unguarded)(
  'a $name is not a valid permission of the configuration: permissions are set again, nothing is restarted',
  async ({ spoil, needsRoot }, { skip }) => {
    if (needsRoot && process.geteuid?.() !== 0) skip('only root can give files away');
    using harness = createHarness();
    const { places } = harness;
    await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
    const isGuarded = () => inspect(places, null).isGuarded;
    expect(isGuarded()).toBe(true);
    spoil(places);
    expect(isGuarded()).toBe(false);
    harness.forgetCalls();
    expect(await harness.install({})).toMatchObject({ outcome: 'ready-already', changed: true });
    expect([isGuarded(), harness.calls()]).toEqual([true, []]);
  },
);

test('a folder of the configuration that is a link, guarded where it leads, is left as it is', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  const { settings } = harness.places;
  const elsewhere = join(harness.root, 'elsewhere');
  renameSync(settings, elsewhere);
  symlinkSync(elsewhere, settings);
  expect(await harness.install({})).toMatchObject({ outcome: 'ready-already', changed: false });
  expect(lstatSync(settings).isSymbolicLink()).toBe(true);
});

test('others than root and the service may not read the hash of the configuration', async () => {
  using harness = createHarness();
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  const { mode, gid } = lstatSync(harness.places.record);
  const [, , , group] =
    readFileSync(harness.places.passwd, 'utf8')
      .split('\n')
      .find((line) => line.startsWith('scheduled'))
      ?.split(':') ?? [];
  expect([(mode & 0o7777).toString(8), String(gid)]).toEqual(['640', group]);
});
