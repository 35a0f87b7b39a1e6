import { execFileSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtAt } from '../../../infra/package/built-at.ts';
import { root } from '../../../infra/package/contents.ts';
import { main } from '../../../infra/package/main.ts';
import { makePackages, type Sources, sourcesHere } from '../../../infra/package/make-packages.ts';
import { platformNames, platforms } from '../../../infra/package/platforms.ts';
import { whyNoRpm } from '../../../infra/package/rpm.ts';
import { budget, overBudget, sizeTable } from '../../../infra/package/sizes.ts';
import { faultsOfPackage } from '../../../infra/package/verify.ts';
import { lacking, moment, newFolder, printed, smallProgram, smallRuntime } from './harness.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const small: Sources = {
  serviceHost: async () => ({ program: Buffer.from('MZ') }),
  program: smallProgram,
  runtimeOf: async (platform) => ({ ...smallRuntime, name: platforms[platform].runtime }),
};

const folder = mkdtempSync(join(tmpdir(), 'packages with space-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Makes all packages, signed, in a folder of this name. */
async function make(name: string) {
  const out = join(folder, name);
  const said: string[] = [];
  const order = {
    platforms: platformNames,
    out,
    at: moment,
    key: privateKey,
    say: (sentence: string) => void said.push(sentence),
  };
  const sizes = await makePackages(order, small);
  const files = Object.fromEntries(readdirSync(out).map((name) => [name, readFileSync(join(out, name))]));
  return { out, said, sizes, files };
}

let made: ReturnType<typeof make>;
beforeAll(async () => {
  made = make('first');
  await made;
});

test('all packages are made, under the names that they are known by', async () => {
  const { files, said, sizes } = await made;
  const noRpm = await whyNoRpm();
  const rpms = ['scheduled-events-bridge-3.2.1-1.aarch64.rpm', 'scheduled-events-bridge-3.2.1-1.x86_64.rpm'];
  expect(Object.keys(files).toSorted()).toEqual([
    'SHA256SUMS',
    'SHA256SUMS.sig',
    ...(noRpm === null ? rpms : []),
    'scheduled-events-bridge-3.2.1-linux-arm64-extension.zip',
    'scheduled-events-bridge-3.2.1-linux-arm64.tar.gz',
    'scheduled-events-bridge-3.2.1-linux-x64-extension.zip',
    'scheduled-events-bridge-3.2.1-linux-x64.tar.gz',
    'scheduled-events-bridge-3.2.1-win-x64-extension.zip',
    'scheduled-events-bridge-3.2.1-win-x64.zip',
    'scheduled-events-bridge_3.2.1_amd64.deb',
    'scheduled-events-bridge_3.2.1_arm64.deb',
  ]);
  expect(said).toEqual(noRpm === null ? [] : [`No .rpm is made: ${noRpm}.`]);
  const bytes = Object.fromEntries(sizes.map((one) => [one.name, one.package]));
  expect(bytes).toEqual(
    Object.fromEntries(
      Object.entries(files)
        .filter(([name]) => !name.startsWith('SHA256SUMS'))
        .map(([name, content]) => [name, content.length]),
    ),
  );
});

test('without a compiler for Windows all others are made, and one sentence says why', async () => {
  const out = newFolder();
  const said: string[] = [];
  const order = { platforms: ['linux-x64', 'win-x64'], out, at: moment, key: null } as const;
  const say = (sentence: string) => void said.push(sentence);
  await makePackages({ ...order, say }, { ...small, serviceHost: async () => ({ whyNot: 'Install a compiler.' }) });
  expect(readdirSync(out)).toContain('scheduled-events-bridge-3.2.1-linux-x64.tar.gz');
  expect(readdirSync(out).filter((name) => name.includes('win-x64'))).toEqual([]);
  expect(said).toContain('No package for Windows is made. Install a compiler.');
});

test('made twice, all packages have the same bytes', async () => {
  const [first, second] = [await made, await make('second')];
  for (const [name, content] of Object.entries(first.files)) {
    expect([name, second.files[name]?.equals(content)]).toEqual([name, true]);
  }
  expect(Object.keys(second.files)).toEqual(Object.keys(first.files));
});

test('bundled twice, the program has the same bytes and the same parts', async () => {
  const [first, second] = [(await sourcesHere()).program, (await sourcesHere()).program];
  expect(first.bundle.equals(second.bundle)).toBe(true);
  expect(second.bundled).toEqual(first.bundled);
  // A path of this machine would make it differ on another.
  expect(first.bundle.includes(root)).toBe(false);
});

test('the checksums match what was made, and are signed', async ({ skip }) => {
  const missing = lacking('sha256sum');
  skip(missing !== null, missing ?? '');
  const { out, files } = await made;
  const checked = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' });
  expect(checked.trim().split('\n').length).toBe(Object.keys(files).length - 2);
  const [sums, signature] = [files.SHA256SUMS ?? Buffer.alloc(0), files['SHA256SUMS.sig'] ?? Buffer.alloc(0)];
  expect(verify(null, sums, publicKey, signature)).toBe(true);
  expect(verify(null, Buffer.concat([sums, sums]), publicKey, signature)).toBe(false);
});

test('the archive for Windows has no folder of its own, because Explorer and Expand-Archive make one', async ({
  skip,
}) => {
  const missing = lacking('unzip');
  skip(missing !== null, missing ?? '');
  const { out } = await made;
  const into = newFolder();
  printed('unzip', ['-q', join(out, 'scheduled-events-bridge-3.2.1-win-x64.zip'), '-d', into]);
  expect(faultsOfPackage(into, publicKey)).toEqual([]);
  expect(readFileSync(join(into, 'node.exe')).equals(smallRuntime.program)).toBe(true);
});

test('packages created without a key are not put next to an older signature', async () => {
  const out = newFolder();
  const order = { platforms: ['win-x64'], out, at: moment, say: () => {} } as const;
  await makePackages({ ...order, key: privateKey }, small);
  expect(readdirSync(out)).toContain('SHA256SUMS.sig');
  await makePackages({ ...order, key: null }, small);
  expect(readdirSync(out)).not.toContain('SHA256SUMS.sig');
});

test('an archive unpacks completely to the folder that extensions expect', async ({ skip }) => {
  const missing = lacking('tar');
  skip(missing !== null, missing ?? '');
  const { out } = await made;
  const into = newFolder();
  const archive = join(out, 'scheduled-events-bridge-3.2.1-linux-x64.tar.gz');
  printed('tar', ['-xzf', archive, '-C', into, '--strip-components=1']);
  expect(faultsOfPackage(into, publicKey)).toEqual([]);
  mkdirSync(join(into, 'all'));
  printed('tar', ['-xzf', archive, '-C', join(into, 'all')]);
  expect(readdirSync(join(into, 'all'))).toEqual(['scheduled-events-bridge-3.2.1-linux-x64']);
});

const figures: readonly { name: string; app: number; package: number; over: readonly string[] }[] = [
  { name: 'just within', app: budget.app, package: budget.package, over: [] },
  {
    name: 'an app too large',
    app: budget.app + 20_000,
    package: 1,
    over: ['x.deb: the app has 1.02 MB, and 1.00 MB are allowed.'],
  },
  {
    name: 'a package too large',
    app: 1,
    package: budget.package + 20_000,
    over: ['x.deb: the package has 46.02 MB, and 46.00 MB are allowed.'],
  },
];

test.each(figures)('sizes: $name', ({ app, package: whole, over }) => {
  expect(overBudget([{ name: 'x.deb', app, package: whole }])).toEqual(over);
});

test('the table of sizes has aligned columns', () => {
  const sizes = [
    { name: 'x.tar.gz', app: 812_345, package: 45_234_567 },
    { name: 'longer.deb', app: 0, package: 5_000 },
  ];
  expect(sizeTable(sizes)).toBe(`\
                app   package
x.tar.gz    0.81 MB  45.23 MB
longer.deb  0.00 MB   0.01 MB
at most     1.00 MB  46.00 MB
`);
});

test('times are those of the commit, and never of the clock', () => {
  expect(builtAt('/', { SOURCE_DATE_EPOCH: '1772600768' })).toEqual(moment);
  expect(() => builtAt('/', { PATH: process.env.PATH })).toThrow('is no git repository: set SOURCE_DATE_EPOCH');
  for (const bytes of ['yesterday', '', '-1', '1', '1.5']) {
    expect(() => builtAt('/', { SOURCE_DATE_EPOCH: bytes })).toThrow('expected the seconds since 1970');
  }
});

/** Runs the command line. */
const run = (...args: readonly string[]) => runWith(small, ...args);

async function runWith(sources: Sources, ...args: readonly string[]) {
  const out = { printed: '', said: '', consumer: '', simulator: '' };
  const code = await main(args, {
    sources: async () => sources,
    async consumer(folder) {
      out.consumer = folder;
    },
    async simulator(folder) {
      out.simulator = folder;
    },
    env: { SOURCE_DATE_EPOCH: String(moment.getTime() / 1000) },
    print(text) {
      out.printed += text;
    },
    say(text) {
      out.said += text;
    },
  });
  return { code, ...out };
}

test('the command line has help', async () => {
  expect(await run('--help')).toMatchObject({ code: 0, printed: expect.stringContaining('--platform <names>') });
});

test.each([
  { args: ['consumer'], folder: join(root, 'dist/npm') },
  { args: ['--out', '/elsewhere', 'consumer'], folder: '/elsewhere' },
  { args: ['consumer', '--out', '/elsewhere'], folder: '/elsewhere' },
])('the command line builds only the package for consumers on request: $args', async ({ args, folder }) => {
  const printed = `${folder} holds the package for consumers.\n`;
  expect(await run(...args)).toEqual({ code: 0, printed, said: '', consumer: folder, simulator: '' });
});

test.each([
  { args: ['simulator'], folder: join(root, 'dist/npm-simulator') },
  { args: ['simulator', '--out', '/elsewhere'], folder: '/elsewhere' },
])('the command line builds only the npm package of the simulator on request: $args', async ({ args, folder }) => {
  const printed = `${folder} holds the npm package of the simulator.\n`;
  expect(await run(...args)).toEqual({ code: 0, printed, said: '', consumer: '', simulator: folder });
});

test('the command line creates packages for the requested platforms, and prints their sizes', async () => {
  const out = newFolder();
  const { code, printed: table } = await run('--platform', 'win-x64', '--out', out);
  expect(table).toMatch(/^scheduled-events-bridge-3\.2\.1-win-x64\.zip +0\.\d\d MB +0\.\d\d MB$/m);
  expect(readdirSync(out)).toEqual([
    'SHA256SUMS',
    'scheduled-events-bridge-3.2.1-win-x64-extension.zip',
    'scheduled-events-bridge-3.2.1-win-x64.zip',
  ]);
  expect(code).toBe(0);
});

test('packages over the budget are created, and the command fails', async () => {
  const large = { ...small, program: { ...smallProgram, bundle: randomBytes(1_200_000) } };
  const { code, said } = await runWith(large, '--platform', 'win-x64', '--out', newFolder());
  expect(said).toMatch(
    /scheduled-events-bridge-3\.2\.1-win-x64\.zip: the app has 1\.2\d MB, and 1\.00 MB are allowed\./,
  );
  expect(code).toBe(1);
});

test('a platform that there is no package for is refused', async () => {
  const { code, said } = await run('--platform', 'linux-x64,beos');
  expect(said).toMatch('Expected one or more of linux-x64, linux-arm64, win-x64, separated by commas. (--help');
  expect(code).toBe(2);
});

test('a key that cannot be read stops everything', async () => {
  const { code, said } = await run('--sign', '/nowhere.pem', '--platform', 'win-x64');
  expect(said).toMatch('/nowhere.pem');
  expect(code).toBe(1);
});

test('a package is verified from the command line', async () => {
  const { out } = await made;
  const into = newFolder();
  printed('tar', [
    '-xzf',
    join(out, 'scheduled-events-bridge-3.2.1-linux-x64.tar.gz'),
    '-C',
    into,
    '--strip-components=1',
  ]);
  const key = join(newFolder(), 'public.pem');
  writeFileSync(key, createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }));
  expect(await run('verify', into, '--key', key)).toMatchObject({
    code: 0,
    printed: expect.stringContaining('is complete and unchanged, and signed with this key'),
  });
  writeFileSync(join(into, 'LICENSE'), 'Do what you like.');
  const { code, said } = await run('verify', into, '--key', key);
  expect(said).toBe(`${into}: LICENSE has 17 bytes instead of 1092.\n`);
  expect(code).toBe(1);
});
