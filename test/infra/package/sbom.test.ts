import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Bundled } from '../../../infra/package/bundled.ts';
import { sbom } from '../../../infra/package/sbom.ts';
import { moment, programHere, smallProgram, smallRuntime } from './harness.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly group?: string;
  readonly purl: string;
  readonly licenses: readonly { readonly license: { readonly id: string } }[];
  readonly authors?: readonly { readonly name: string }[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly externalReferences: readonly {
    readonly url: string;
    readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  }[];
}

interface Bom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly version: number;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

let bundled: Bundled;
beforeAll(async () => {
  ({ bundled } = await programHere());
});

const bomOf = (of: Bundled): Bom =>
  JSON.parse(sbom({ version: '3.2.1', platform: 'linux-x64', ...of, runtime: smallRuntime, at: moment }));

test('the bill of materials is valid CycloneDX 1.6', () => {
  const bom = bomOf(bundled);
  expect([bom.bomFormat, bom.specVersion, bom.version]).toEqual(['CycloneDX', '1.6', 1]);
  expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  expect(bom.metadata.timestamp).toBe('2026-03-04T05:06:08.000Z');
  expect(bom.metadata.component).toMatchObject({
    type: 'application',
    name: 'scheduled-events-bridge',
    version: '3.2.1',
  });
});

test('every component has a unique name and its own dependencies', () => {
  const { metadata, components, dependencies } = bomOf(bundled);
  const refs = [metadata.component, ...components].map((one) => one['bom-ref']);
  expect(new Set(refs).size).toBe(refs.length);
  expect(dependencies.map(({ ref }) => ref).toSorted()).toEqual(refs.toSorted());
  const needed = dependencies.flatMap(({ dependsOn }) => dependsOn);
  expect(needed.filter((ref) => !refs.includes(ref))).toEqual([]);
  // Otherwise its purpose would be unknown.
  expect(components.map((one) => one['bom-ref']).filter((ref) => !needed.includes(ref))).toEqual([]);
});

test('the listed components are those of the bundle, and the runtime', () => {
  const { components } = bomOf(bundled);
  const [runtime, ...libraries] = components;
  expect(runtime).toMatchObject({ type: 'platform', name: 'node', version: '24.0.1' });
  expect(runtime?.hashes).toEqual([
    { alg: 'SHA-256', content: createHash('sha256').update(smallRuntime.program).digest('hex') },
  ]);
  expect(libraries.map((one) => one['bom-ref'])).toEqual(bundled.packages.map(({ path }) => path));
  expect(libraries.filter(({ externalReferences }) => externalReferences.length !== 1)).toEqual([]);
});

test('a library is named as its registry and its lock file name it', () => {
  const [, library] = bomOf(smallProgram.bundled).components;
  expect(library).toEqual({
    type: 'library',
    'bom-ref': 'node_modules/@azure/identity',
    authors: [{ name: 'Somebody' }],
    group: '@azure',
    name: 'identity',
    version: '1.2.3',
    scope: 'required',
    licenses: [{ license: { id: 'MIT' } }],
    purl: 'pkg:npm/%40azure/identity@1.2.3',
    externalReferences: [
      {
        type: 'distribution',
        url: 'https://registry.npmjs.org/@azure/identity/-/identity-1.2.3.tgz',
        hashes: [{ alg: 'SHA-512', content: '07'.repeat(64) }],
      },
    ],
  });
});

test('the same parts make the same document, and other parts another number', () => {
  expect(bomOf(bundled)).toEqual(bomOf(bundled));
  expect(bomOf(bundled).serialNumber).not.toBe(bomOf(smallProgram.bundled).serialNumber);
});
