import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { until } from '../support/until.ts';
import { hierarchies } from './control-group.ts';
import { whyNoMachine } from './image.ts';
import { removeLeftovers } from './leftovers.ts';
import { ownerOf } from './own-name.ts';

/** A run of its own, which boots a machine, says so, and stays. */
const run = `
  const { mkdtempSync } = await import('node:fs');
  const { bootMachine } = await import('${import.meta.dirname}/booted-machine.ts');
  const { ownName } = await import('${import.meta.dirname}/own-name.ts');
  process.env.TMPDIR = mkdtempSync('${tmpdir()}/' + ownName(''));
  await bootMachine('killed', '${inject('packages')}');
  process.stdout.write('booted');
  setInterval(() => {}, 1000);
`;

test.skipIf(whyNoMachine)(
  `a run that is killed takes its machine with it, and the next one removes what it has left${whyNoMachine}`,
  async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', run], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const left = (): string[] =>
      [tmpdir(), ...hierarchies()].flatMap((place) =>
        readdirSync(place)
          .filter((name) => ownerOf(name) === child.pid)
          .map((name) => join(place, name)),
      );
    const processes = (): string[] =>
      left()
        .filter((path) => !path.startsWith(tmpdir()))
        .flatMap((group) => readdirSync(group, { recursive: true, encoding: 'utf8' }).map((name) => join(group, name)))
        .filter((path) => path.endsWith('/cgroup.procs'))
        .flatMap((path) => readFileSync(path, 'utf8').split('\n').filter(Boolean));
    try {
      await once(child.stdout, 'data');
      expect(left()).toHaveLength(2);
      expect(processes().length).toBeGreaterThan(2);
    } finally {
      child.kill('SIGKILL');
    }
    await until(() => processes().length === 0, { what: 'the end of its machine' });
    removeLeftovers();
    expect(left()).toEqual([]);
  },
);
