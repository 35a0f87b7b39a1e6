import { createHash } from 'node:crypto';
import type { Bundled, BundledPackage } from './bundled.ts';
import type { PlatformName } from './platforms.ts';
import type { Runtime } from './runtime.ts';

const product = 'scheduled-events-bridge';
export const serviceHostName = `${product}-service.exe`;

interface Contents extends Bundled {
  readonly version: string;
  readonly platform: PlatformName;
  readonly runtime: Pick<Runtime, 'name' | 'version' | 'integrity' | 'program'>;
  /** A program of ours, in the package for Windows. */
  readonly serviceHost?: Buffer | undefined;
  readonly at: Date;
}

/**
 * What a package is made of, as CycloneDX 1.6 in JSON: the npm packages of which something is in the bundle, who needs whom, and the
 * runtime. Nothing that was only there when it was built. The same contents make the same document.
 * https://cyclonedx.org/docs/1.6/json/
 */
export function sbom({ version, platform, packages, importedByUs, runtime, serviceHost, at }: Contents): string {
  const ours = `${product}@${version}`;
  const host = serviceHost === undefined ? [] : [hostComponent(serviceHost, version), startUpCode];
  const document = {
    metadata: {
      timestamp: at.toISOString(),
      lifecycles: [{ phase: 'build' }],
      authors: [{ name: `The ${product} authors` }],
      component: {
        type: 'application',
        'bom-ref': ours,
        name: product,
        version,
        licenses: [{ license: { id: 'MIT' } }],
        properties: [{ name: `${product}:platform`, value: platform }],
      },
    },
    components: [nodeComponent(runtime), ...host, ...packages.map(component)],
    dependencies: [
      {
        ref: ours,
        dependsOn: [runtime.name, ...(serviceHost === undefined ? [] : [serviceHostName]), ...importedByUs],
      },
      { ref: runtime.name, dependsOn: [] },
      ...host.map(({ name }) => ({ ref: name, dependsOn: name === serviceHostName ? [startUpCode.name] : [] })),
      ...packages.map(({ path, imports }) => ({ ref: path, dependsOn: imports })),
    ],
  };
  const whole = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(document))}`,
    version: 1,
    ...document,
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

function component({ name, version, path, licence, author, integrity }: BundledPackage) {
  const [group, plain] = name.startsWith('@') ? name.split('/') : [null, name];
  // As package.json has it: name, mail address and page in one.
  const person = author?.replace(/\s*[<(].*$/, '');
  return {
    type: 'library',
    'bom-ref': path,
    ...(person ? { authors: [{ name: person }] } : {}),
    ...(group ? { group } : {}),
    name: plain,
    version,
    scope: 'required',
    ...(licence ? { licenses: [{ license: { id: licence } }] } : {}),
    purl: purlOf(name, version),
    ...(integrity ? { externalReferences: [published(name, version, integrity)] } : {}),
  };
}

function nodeComponent({ name, version, integrity, program }: Contents['runtime']) {
  return {
    type: 'platform',
    'bom-ref': name,
    name: 'node',
    version,
    description: 'Node.js as its makers built it, with what is compiled into it',
    scope: 'required',
    hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(program).digest('hex') }],
    licenses: [{ license: { id: 'MIT' } }],
    // What lists of known vulnerabilities call it.
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl: purlOf(name, version),
    externalReferences: [published(name, version, integrity)],
  };
}

/** Linked into the service host; its version is that of the compiler. */
const startUpCode = {
  type: 'library',
  'bom-ref': 'mingw-w64',
  name: 'mingw-w64',
  description: 'Start-up code of the compiler',
  scope: 'required',
  licenses: [{ license: { id: 'ZPL-2.1' } }],
};

const hostComponent = (program: Buffer, version: string) => ({
  type: 'application',
  'bom-ref': serviceHostName,
  name: serviceHostName,
  version,
  description: 'Runs the program as a service of Windows',
  scope: 'required',
  hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(program).digest('hex') }],
  licenses: [{ license: { id: 'MIT' } }],
});

/** https://github.com/package-url/purl-spec/blob/main/types-doc/npm-definition.md */
const purlOf = (name: string, version: string): string =>
  `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;

function published(name: string, version: string, integrity: string) {
  return {
    type: 'distribution',
    url: `https://registry.npmjs.org/${name}/-/${name.split('/').at(-1)}-${version}.tgz`,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }],
  };
}

/** A UUID of version 8, the one that is free to be made of a hash. https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-8 */
function uuidOf(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
