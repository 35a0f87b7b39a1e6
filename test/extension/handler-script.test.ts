import { spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHarness, type Harness } from '../service/harness.ts';
import { type Call, createGuestAgent, type Ended } from './guest-agent.ts';
import { settings, zipOf } from './site.ts';

const folder = mkdtempSync(join(tmpdir(), 'handler-'));
afterAll(() => rmSync(folder, { recursive: true }));

const { NODE_COMPILE_CACHE } = process.env;
/** Code that Node has compiled before. */
const compiled = NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };

const zips = new Map<string, Buffer>();
beforeAll(async () => {
  const program = join(folder, 'program.cjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'handler-process.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
  });
  const node = `#!/bin/sh\nexec '${process.execPath}' "$@"\n`;
  for (const version of ['1.0.0', '1.1.0']) {
    const code = `process.env.TEST_VERSION = '${version}';\nrequire('${program}');\n`;
    zips.set(version, await zipOf(version, { node, code }));
  }
});
const zip = (version: string): Buffer => zips.get(version) ?? Buffer.alloc(0);

/** As the agent starts a command: by a shell, in a session of its own, with files for its output. */
const runIn =
  (harness: Harness, more: () => NodeJS.ProcessEnv = () => ({})) =>
  ({ line, folder: cwd, env, timeoutMs }: Call): Promise<Ended> =>
    new Promise((resolve) => {
      const files = [join(harness.root, 'stdout'), join(harness.root, 'stderr')] as const;
      const [out, err] = files.map((file) => openSync(file, 'w'));
      const child = spawn('/bin/sh', ['-c', join(cwd, line)], {
        cwd,
        env: {
          ...harness.env,
          ...env,
          NODE_OPTIONS: '--no-such-option',
          TEST_ROOT: harness.root,
          ...compiled,
          ...more(),
        },
        detached: true,
        stdio: ['ignore', out ?? 'ignore', err ?? 'ignore'],
      });
      const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), timeoutMs);
      child.once('close', (code) => {
        clearTimeout(timer);
        for (const fd of [out, err]) if (fd !== undefined) closeSync(fd);
        const [stdout = '', stderr = ''] = files.map((file) => readFileSync(file, 'utf8'));
        resolve({ code: code ?? 137, stdout, stderr });
      });
    });

const ready = { code: 0, message: 'Ready' };

test('the files of the zip, without their rights, go through installation, settings, update and removal', async () => {
  using harness = createHarness();
  const agent = createGuestAgent({ root: harness.root, run: runIn(harness) });
  expect(await agent.apply('1.0.0', zip('1.0.0'), settings('a'))).toEqual(ready);
  expect(harness.runs()).toContain('1.0.0');
  expect(agent.last().stdout).toBe('Version 1.0.0 runs and is ready. Status: Polling; no open events.\n');
  expect(await agent.apply('1.0.0', zip('1.0.0'), { publicSettings: { sinks: {} } })).toMatchObject({ code: 1009 });
  expect(agent.last()).toMatchObject({
    code: 53,
    stdout: '',
    stderr: expect.stringMatching(/^The configuration .*There is no sink/),
  });
  expect(await agent.apply('1.0.0', zip('1.0.0'), settings('b'))).toEqual(ready);
  agent.takeCalls();
  expect(await agent.apply('1.1.0', zip('1.1.0'), settings('b'))).toEqual(ready);
  expect(agent.takeCalls()).toEqual([
    'disable 1.0.0',
    'update 1.1.0',
    'uninstall 1.0.0',
    'install 1.1.0',
    'enable 1.1.0',
  ]);
  expect(harness.runs()).toContain('1.1.0');
  expect(await agent.remove('1.1.0')).toEqual(ready);
  expect(harness.runs()).toBeNull();
});

const refused: readonly { name: string; node: string; code: number; message: RegExp }[] = [
  {
    name: 'that may not be executed',
    node: 'exit 126',
    code: 52,
    message: /^Nothing can be executed in .*package: its file system is mounted with noexec, .* Mount it with exec/,
  },
  { name: 'of a machine with another C library', node: 'exit 127', code: 51, message: /another one \(Alpine/ },
  {
    name: 'of a machine with an old C library',
    node: 'echo "version \'GLIBC_2.28\' not found" >&2; exit 1',
    code: 51,
    message: /glibc 2\.28 .*it says: version 'GLIBC_2\.28' not found$/,
  },
];

test.for(refused)('a runtime $name is refused with $code, in one line', async ({ node, code, message }) => {
  using harness = createHarness();
  const agent = createGuestAgent({ root: harness.root, run: runIn(harness) });
  await agent.apply('1.0.0', await zipOf('1.0.0', { node: `#!/bin/sh\n${node}\n` }), settings());
  const { stderr, code: ended } = agent.last();
  expect([ended, stderr.trim().split('\n')]).toEqual([code, [expect.stringMatching(message)]]);
});

const packages: readonly { name: string; change: (folder: string) => void; code: number; message: RegExp }[] = [
  {
    name: 'without its runtime',
    change: (folder) => rmSync(join(folder, 'node')),
    code: 52,
    message: /is not whole: node is missing\. Remove the extension and deploy it again\.$/,
  },
  {
    name: 'with a damaged runtime',
    change: (folder) => writeFileSync(join(folder, 'node'), '#!/bin/sh\nexit 7\n'),
    code: 52,
    message: /is damaged: node has another content\. Remove the extension and deploy it again\.$/,
  },
  {
    name: 'for another processor',
    change: (folder) => {
      const manifest = join(folder, 'manifest.json');
      writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"linux-x64"', '"linux-arm64"'));
    },
    code: 51,
    message: /^The package is for linux-arm64, and this machine is linux-x64/,
  },
];

test.for(packages)('a package $name is refused with $code, in one line', async ({ change, code, message }) => {
  using harness = createHarness();
  const run = runIn(harness);
  const agent = createGuestAgent({
    root: harness.root,
    run: async (call) => {
      change(join(call.folder, 'package'));
      return run(call);
    },
  });
  await agent.apply('1.0.0', zip('1.0.0'), settings());
  const { stderr, code: ended } = agent.last();
  expect([ended, stderr.trim().split('\n')]).toEqual([code, [expect.stringMatching(message)]]);
});

test('a runtime without the right to be executed gets it', async () => {
  using harness = createHarness();
  const agent = createGuestAgent({
    root: harness.root,
    run: async (call) => {
      chmodSync(join(call.folder, 'package/node'), 0o644);
      return runIn(harness)(call);
    },
  });
  expect(await agent.apply('1.0.0', zip('1.0.0'), settings())).toEqual(ready);
});

/** Some of the steps after which a command is killed; all with TEST_RUNS=full, as in `.ci/run`. */
function stepsOf(count: number): readonly number[] {
  const steps = Array.from({ length: count }, (_, n) => n + 1);
  const played = process.env.TEST_RUNS === 'full' ? steps : steps.filter((step) => step % 4 === 2);
  console.log(`  killed after ${played.join(', ')} of ${count} steps`);
  return played;
}

describe('a command that is killed', () => {
  // The steps of a first installation, and of an update.
  const [installation, updating] = [10, 8];

  test.each(stepsOf(installation))(
    'during the installation, after step %i, continues with the next start of the agent',
    async (step) => {
      using harness = createHarness();
      let killedAfter = `${step}`;
      const agent = createGuestAgent({
        root: harness.root,
        run: runIn(harness, () => ({ TEST_KILLED_AFTER: killedAfter })),
      });
      expect(await agent.apply('1.0.0', zip('1.0.0'), settings('a'))).toMatchObject({ code: 1009 });
      expect(agent.last().code).toBe(137);
      expect(agent.status('1.0.0')).toMatchObject({ status: 'transitioning' });
      killedAfter = '';
      expect(await agent.restart('1.0.0')).toEqual(ready);
      expect(agent.status('1.0.0')).toMatchObject({ status: 'success' });
      expect(harness.runs()).toContain('1.0.0');
    },
  );

  test.each(stepsOf(updating))(
    'during an update, after step %i, continues when the agent takes up the update again',
    async (step) => {
      using harness = createHarness();
      let killedAfter = '';
      const agent = createGuestAgent({
        root: harness.root,
        run: runIn(harness, () => ({ TEST_KILLED_AFTER: killedAfter })),
      });
      await agent.apply('1.0.0', zip('1.0.0'), settings('a'));
      killedAfter = `${step}`;
      expect(await agent.apply('1.1.0', zip('1.1.0'), settings('b'))).toMatchObject({ code: 1008 });
      expect(agent.last().code).toBe(137);
      killedAfter = '';
      expect(await agent.again('1.1.0')).toEqual(ready);
      expect(harness.runs()).toContain('1.1.0');
      expect(readFileSync(harness.places.configuration, 'utf8')).toContain('"b"');
    },
  );
});
