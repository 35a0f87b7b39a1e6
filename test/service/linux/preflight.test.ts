import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type Facts, factsOf } from '../../../src/service/linux/facts.ts';
import { placesIn } from '../../../src/service/linux/places.ts';
import { preflight } from '../../../src/service/linux/preflight.ts';
import { refusals } from '../../../src/service/refusals.ts';
import { createHarness, type PackageOptions, refusalOf, treeOf } from '../harness.ts';
import { fitFacts } from '../machine-in.ts';

const cases: readonly {
  readonly name: string;
  readonly facts: Partial<Facts>;
  readonly reason: string;
  readonly message: RegExp;
}[] = [
  { name: 'Windows', facts: { operatingSystem: 'win32' }, reason: 'unsupported', message: /installed on Linux only/ },
  { name: 'a user that is not root', facts: { isRoot: false }, reason: 'notDone', message: /sudo/ },
  {
    name: 'another processor',
    facts: { processor: 'arm64' },
    reason: 'unsupported',
    message: /for linux-x64, and this machine is linux-arm64/,
  },
  { name: 'musl instead of glibc', facts: { glibc: null }, reason: 'unsupported', message: /musl/ },
  {
    name: 'an old glibc',
    facts: { glibc: '2.27' },
    reason: 'unsupported',
    message: /has glibc 2\.27, and the package needs 2\.28/,
  },
  { name: 'an older major of glibc', facts: { glibc: '1.99' }, reason: 'unsupported', message: /has glibc 1\.99/ },
  { name: 'a machine of Azure Arc', facts: { isArc: true }, reason: 'unsupported', message: /Azure Arc/ },
  { name: 'no systemd', facts: { programs: ['useradd'] }, reason: 'unsupported', message: /no systemd/ },
  {
    name: 'a systemd that does not run',
    facts: { isLive: false },
    reason: 'unsupported',
    message: /does not run .*--no-start/,
  },
  {
    name: 'no systemd-notify',
    facts: { programs: ['systemctl', 'useradd'] },
    reason: 'missing',
    message: /missing: systemd-notify/,
  },
  {
    name: 'too little room for the version',
    facts: { freeForVersions: 100 * 2 ** 20 },
    reason: 'missing',
    message: /space in \/opt: 100 MB free, and 184 MB/,
  },
  {
    name: 'too little room for the state',
    facts: { freeForState: 2 ** 20 },
    reason: 'missing',
    message: /space for the state .*: 1 MB free/,
  },
  {
    name: 'a state directory that is a link',
    facts: { isStateLinked: true },
    reason: 'notDone',
    message: /\/var\/lib\/scheduled-events-bridge is a symbolic link.*mount --bind/,
  },
];
const need = { platform: 'linux-x64', bytes: 120 * 2 ** 20, starts: true };

test.each(cases)('$name is refused', ({ facts, reason, message }) => {
  expect(preflight({ ...fitFacts, ...facts }, need)).toMatchObject({ reason, message: expect.stringMatching(message) });
});

test.each(cases)('$name is refused before any change', async ({ facts, reason }) => {
  using harness = createHarness({ facts });
  const before = treeOf(harness.root);
  const from = harness.package('1.0.0');
  const refusal = await refusalOf(harness.install({ from, configuration: harness.configuration() })).catch(() => null);
  // The stand-ins of a package are so small that there is always room.
  if (refusal === null) expect(facts).toHaveProperty('freeForVersions');
  else {
    expect(refusal.reason).toBe(reason);
    expect(treeOf(harness.root)).toEqual(before);
  }
});

test('a machine that has everything is fit, and so is an image where nothing is started', () => {
  expect(preflight(fitFacts, need)).toBeNull();
  expect(preflight({ ...fitFacts, glibc: '2.28' }, need)).toBeNull();
  expect(preflight({ ...fitFacts, glibc: '3.0' }, need)).toBeNull();
  expect(preflight({ ...fitFacts, isLive: false }, { ...need, starts: false })).toBeNull();
});

test('a version that is already installed needs no space', () => {
  expect(preflight({ ...fitFacts, freeForVersions: 0 }, { ...need, bytes: 0 })).toBeNull();
});

test('preflight checks this machine without changing it', () => {
  using harness = createHarness();
  const facts = factsOf(harness.places, harness.env);
  expect(facts).toMatchObject({
    operatingSystem: process.platform,
    processor: process.arch,
    isLive: true,
    isArc: false,
  });
  expect(facts.programs).toContain('systemctl');
  expect(facts.freeForState).toBeGreaterThan(0);
  rmSync(harness.places.systemdRuns, { recursive: true });
  mkdirSync(dirname(harness.places.arcAgent), { recursive: true });
  writeFileSync(harness.places.arcAgent, '');
  expect(factsOf(harness.places, { PATH: '' })).toMatchObject({ isLive: false, isArc: true, programs: [] });
  expect(placesIn().lock).toBe('/run/scheduled-events-bridge-install.lock');
});

const badPackages: readonly (PackageOptions & {
  readonly name: string;
  readonly reason: string;
  readonly expected: RegExp;
  readonly spoil?: (from: string) => void;
})[] = [
  {
    name: 'a file system where nothing can be executed',
    interpreter: '/etc/passwd',
    reason: 'missing',
    expected: /noexec/,
  },
  {
    name: 'a loader that is not there',
    interpreter: '/no/loader',
    reason: 'unsupported',
    expected: /another C library/,
  },
  {
    name: 'a runtime that does not run',
    interpreter: '/bin/false',
    reason: 'unsupported',
    expected: /does not run on this machine: exit code 1/,
  },
  {
    name: 'a program of another version',
    message: '0.9.0',
    reason: 'missing',
    expected: /says that it is 1\.0\.0, and its program says/,
  },
  {
    name: 'a file that was changed',
    reason: 'missing',
    expected: /damaged: LICENSE has/,
    spoil: (from) => writeFileSync(join(from, 'LICENSE'), 'other'),
  },
  {
    name: 'a file of the same length with another content',
    reason: 'missing',
    expected: /LICENSE has another content/,
    spoil: (from) => writeFileSync(join(from, 'LICENSE'), 'a license\n'),
  },
  {
    name: 'a file that is missing',
    reason: 'missing',
    expected: /LICENSE is missing/,
    spoil: (from) => rmSync(join(from, 'LICENSE')),
  },
];

test.each(badPackages)(
  'a package with $name is refused, and its copy is removed',
  async ({ reason, expected, spoil, name: _, ...options }) => {
    using harness = createHarness();
    const from = harness.package('1.0.0', options);
    spoil?.(from);
    const refusal = await refusalOf(harness.install({ from, configuration: harness.configuration() }));
    expect([refusal.reason, refusal.message]).toEqual([reason, expect.stringMatching(expected)]);
    expect(existsSync(join(harness.places.versions, '.staging'))).toBe(false);
    expect(existsSync(harness.places.configuration)).toBe(false);
    expect(existsSync(harness.places.current)).toBe(false);
  },
);

test('the exit codes are those of Azure’s guest agents', () => {
  const codes = Object.entries(refusals).map(([name, { code }]) => [name, code]);
  expect(codes).toEqual([
    ['unsupported', 51],
    ['missing', 52],
    ['badConfiguration', 53],
    ['unreachable', 55],
    ['busy', 56],
  ]);
});
