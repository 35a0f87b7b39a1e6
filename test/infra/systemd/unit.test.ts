import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodes } from '../../../src/cli/exit-codes.ts';
import { fromRoot, placesIn } from '../../../src/service/linux/places.ts';
import { serviceName } from '../../../src/service/names.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';

const unitFile = `infra/systemd/${serviceName}.service`;
const unit = readFileSync(unitFile, 'utf8');

/** Every value of a setting, in order. */
const valuesOf = (name: string): string[] =>
  unit
    .split('\n')
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));

const { error } = spawnSync('systemd-analyze', ['--version']);
const whyNot = error ? ` (skipped: no systemd-analyze here, ${error.message})` : '';

/** With a program that exists: an installation has placed its own before it is started. */
function analyze(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  using directory = temporaryDirectory('unit');
  const copy = join(directory.path, `${serviceName}.service`);
  writeFileSync(copy, unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true'));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, copy], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

// It returns 0 also for settings that it does not know: what counts is that it is silent.
test.skipIf(whyNot)(`systemd finds no problem in the unit${whyNot}`, () => {
  expect(analyze('verify', '--man=no')).toEqual({ status: 0, output: '' });
});

test.skipIf(whyNot)(`the exposure of the unit is 1.6 at most${whyNot}`, () => {
  const { status, output } = analyze('security', '--offline=true', '--threshold=16', '--no-pager');
  const [, exposure] = /Overall exposure level for .*: (\d+\.\d+)/.exec(output) ?? [];
  expect(Number(exposure)).toBeLessThanOrEqual(1.6);
  expect(Number(exposure)).toBeGreaterThan(0);
  expect(status).toBe(0);
});

const traps = [
  { trap: 'V8 makes code at run time', name: 'MemoryDenyWriteExecute', values: [] },
  { trap: 'without the boot id a reboot and an interruption look the same', name: 'ProcSubset', values: [] },
  { trap: 'the account does not change with a start', name: 'DynamicUser', values: [] },
  { trap: 'systemd-notify is a process of its own', name: 'NotifyAccess', values: ['all'] },
  { trap: 'readiness is reported', name: 'Type', values: ['notify'] },
  { trap: 'a loop that hangs is ended', name: 'WatchdogSec', values: ['60'] },
  { trap: 'it is started again', name: 'Restart', values: ['always'] },
  { trap: 'restarts without limit', name: 'StartLimitIntervalSec', values: ['0'] },
  {
    trap: 'neither an older Node.js nor a state of a newer version nor a wrong configuration fixes itself',
    name: 'RestartPreventExitStatus',
    values: [[exitCodes.nodeTooOld, exitCodes.newerOutbox, exitCodes.configuration].map(({ code }) => code).join(' ')],
  },
  {
    trap: 'variables are set without editing the unit',
    name: 'EnvironmentFile',
    values: [`-/etc/default/${serviceName}`],
  },
  {
    trap: 'what the service can write it cannot execute',
    name: 'NoExecPaths',
    values: [`/var/lib/${serviceName} /var/cache/${serviceName}`],
  },
  {
    trap: 'the network is still there when it stops',
    name: 'After',
    values: ['network.target nss-lookup.target'],
  },
  { trap: 'an interface that never comes up holds nothing back', name: 'Wants', values: [] },
  { trap: 'the shutdown of the machine stops it', name: 'DefaultDependencies', values: [] },
  { trap: 'no address of a destination is known beforehand', name: 'IPAddressDeny', values: [] },
  {
    trap: 'no option loads code, no variable turns the check of certificates off',
    name: 'UnsetEnvironment',
    values: ['NODE_OPTIONS NODE_PATH NODE_TLS_REJECT_UNAUTHORIZED'],
  },
  { trap: 'the workload keeps its memory', name: 'MemoryMax', values: ['320M'] },
  { trap: 'the workload keeps its processor', name: 'CPUQuota', values: ['50%'] },
  { trap: 'a sender killed for lack of memory does not stop polling', name: 'OOMPolicy', values: ['continue'] },
  { trap: 'four processes have their threads', name: 'TasksMax', values: ['128'] },
  { trap: 'who has no memory kills others first', name: 'OOMScoreAdjust', values: ['-500'] },
  { trap: 'only the service looks at its state', name: 'StateDirectoryMode', values: ['0700'] },
  { trap: 'it starts at boot', name: 'WantedBy', values: ['multi-user.target'] },
];

test.each(traps)('$name is $values in the unit, since $trap', ({ name, values }) => {
  expect(valuesOf(name)).toEqual(values);
});

test('the unit and the installer mean the same places', () => {
  const places = placesIn();
  const [start = ''] = valuesOf('ExecStart');
  expect(start.split(' ')).toEqual([
    join(places.current, 'node'),
    '--max-semi-space-size=1',
    join(places.current, `${serviceName}.cjs`),
    'run',
    '--config',
    places.configuration,
  ]);
  for (const name of ['User', 'Group', 'StateDirectory', 'CacheDirectory', 'RuntimeDirectory'])
    expect(valuesOf(name)).toEqual([serviceName]);
  expect(valuesOf('Environment')).toEqual([
    `NODE_COMPILE_CACHE=%C/${serviceName} MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=32768`,
  ]);
  expect(places.cache).toBe(`/var/cache/${serviceName}`);
  expect(fromRoot(placesIn('/image'), placesIn('/image').unit)).toBe(places.unit);
});
