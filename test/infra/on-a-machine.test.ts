import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { product } from '../../infra/package/distribution.ts';
import { platformNames, platforms } from '../../infra/package/platforms.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import type { Facts } from '../../src/service/linux/facts.ts';
import { placesIn } from '../../src/service/linux/places.ts';
import { preflight } from '../../src/service/linux/preflight.ts';
import { refusals } from '../../src/service/refusals.ts';
import { fitFacts } from '../service/machine-in.ts';
import { root } from '../support/source-tree.ts';
import { inBackticks, rows, section, textOfDocument } from './read-documents.ts';

const source = (path: string): string => readFileSync(join(root, path), 'utf8');
const machine = textOfDocument('install.md');
const whereItRuns = rows(section('Where it runs', machine));

test('the files that the commands install are named as they are made', () => {
  const made = platformNames.flatMap((platform) => {
    const { debian, rpm } = platforms[platform];
    return [
      `${product}_<version>_${debian}.deb`,
      `${product}-<version>-1.${rpm}.rpm`,
      `${product}-<version>-${platform}.tar.gz`,
    ];
  });
  const named = machine.match(/scheduled-events-bridge[-_]<version>[\w.-]*\.(deb|rpm|tar\.gz)/g) ?? [];
  expect(new Set(named.map((name) => name.split('.').at(-1)))).toEqual(new Set(['deb', 'rpm', 'gz']));
  expect(named.filter((name) => !made.includes(name))).toEqual([]);
});

test('the places on a machine are those of the installer', () => {
  const { configuration, home, state, remover, versions } = placesIn();
  for (const place of [configuration, home, state, remover]) expect(inBackticks(machine).join('\n')).toContain(place);
  expect(machine).toContain(`${versions}/<version before>/update.sh`);
});

test('every exit code of the installer is explained, with what is done about it', () => {
  const documented = rows(section('When an installation fails', machine)).flatMap(([code = '']) =>
    /^\d+$/.test(code) ? [Number(code)] : [],
  );
  const codes = [exitCodes.notDone.code, ...Object.values(refusals).map(({ code }) => code)];
  expect(documented).toEqual(codes);
  expect(machine).toContain(`exits with ${exitCodes.newerOutbox.code}`);
});

test('the patience with an update is the one of the installer', () => {
  const [, ms = ''] = /timeoutMs = ([\d_]+);/.exec(source('src/service/ready.ts')) ?? [];
  expect(machine).toContain(`${Number(ms.replace('_', '')) / 1000} seconds to become ready`);
});

/** What makes the machine of a row what it is; null where the package itself finds out before the installer runs. */
const unfitMachines: Readonly<Record<string, Partial<Facts> | null>> = {
  'glibc before 2.28: Ubuntu 18.04, Debian 9, RHEL 7, SLES 15 before SP3': { glibc: '2.27' },
  'Alpine and others with musl': { glibc: null },
  'Linux without systemd': { programs: [] },
  'a package for another processor': { processor: 'arm64' },
  'Azure Arc': { isArc: true },
  '`/opt` mounted with noexec': null,
};
const refused = whereItRuns.flatMap(([where = '', what = '']) => {
  const [, code] = /^refused, (\d+)$/.exec(what) ?? [];
  return code === undefined ? [] : [{ where, code: Number(code) }];
});

test.for(refused)('$where is refused with $code, as in the support matrix', ({ where, code }) => {
  const facts = unfitMachines[where];
  expect(facts).not.toBeUndefined();
  if (facts === null)
    return expect(source('infra/package/scripts/scheduled-events-bridge')).toContain(`refuse ${code}`);
  const refusal = preflight({ ...fitFacts, ...facts }, { platform: 'linux-x64', bytes: 0, starts: true });
  expect(refusals[refusal?.reason as keyof typeof refusals].code).toBe(code);
});

test('the support matrix has a row for all that is known to be different, and a verdict for each', () => {
  const text = whereItRuns.map(([where]) => where).join('\n');
  const asked = [
    'glibc',
    'x64',
    'arm64',
    'Alpine',
    'trusted launch',
    'ephemeral OS disk',
    'reimage',
    'hibernation',
    'Spot',
  ];
  expect([...asked, 'uniform and flexible', 'Arc'].filter((word) => !text.includes(word))).toEqual([]);
  expect(whereItRuns.filter(([, verdict = '']) => !/^(tested|expected|refused, \d+)$/.test(verdict))).toEqual([]);
  expect(preflight({ ...fitFacts, glibc: '2.28' }, { platform: 'linux-x64', bytes: 0, starts: true })).toBeNull();
});
