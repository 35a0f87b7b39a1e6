import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import manifest from '../../package.json' with { type: 'json' };
import { root } from './contents.ts';
import { beginNpmFolder } from './npm-folder.ts';

/** The package of `src/consumer`. */
export const npmPackageName = 'scheduled-events-bridge-consumer';

const schemas = ['lifecycle-record.v1.json', 'heartbeat.v1.json'];

/** Of `package.json` of the package. */
const packageJson = {
  name: npmPackageName,
  version: manifest.version,
  description:
    'Reads the scheduled events of Azure VMs that scheduled-events-bridge sends to Event Hubs, and acts on them once',
  keywords: ['azure', 'scheduled-events', 'event-hubs', 'maintenance', 'spot', 'cloudevents', 'drain'],
  license: manifest.license,
  type: 'module',
  sideEffects: false,
  engines: { node: '^20.19 || >=22.12' },
  exports: {
    '.': { types: './types/consumer/index.d.ts', default: './index.js' },
    './schema/*.json': './schema/*.json',
    './package.json': './package.json',
  },
};

/**
 * Writes the package to a folder, in place of an earlier one: one module, its types, the schemas, and documents.
 * @throws if the folder holds something else, and with the output of the compiler if the types cannot be created.
 */
export async function makeNpmPackage(folder: string): Promise<void> {
  beginNpmFolder(folder, packageJson);
  mkdirSync(join(folder, 'schema'));
  await build({
    absWorkingDir: root,
    entryPoints: ['src/consumer/index.ts'],
    outfile: join(folder, 'index.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
  });
  writeTypes(join(folder, 'types'));
  for (const name of schemas) cpSync(join(root, 'infra/schema', name), join(folder, 'schema', name));
  for (const name of ['LICENSE', 'CHANGELOG.md']) cpSync(join(root, name), join(folder, name));
  cpSync(join(root, 'infra/npm/README.md'), join(folder, 'README.md'));
}

/** Declarations of what the public ones need, under the names of the modules that would be beside them. */
function writeTypes(folder: string): void {
  const directory = mkdtempSync(join(root, 'node_modules/.types-'));
  try {
    const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
    const options = { ...compilerOptions, noEmit: false, declaration: true, emitDeclarationOnly: true };
    const project = {
      compilerOptions: { ...options, rootDir: root, outDir: join(directory, 'out') },
      files: [join(root, 'src/consumer/index.ts')],
    };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(project));
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', directory], { encoding: 'utf8' });
    for (const path of globSync('**/*.d.ts', { cwd: join(directory, 'out/src') })) {
      const text = readFileSync(join(directory, 'out/src', path), 'utf8');
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(
        join(folder, path),
        text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'").replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"'),
      );
    }
  } catch (error) {
    const { stdout } = error as { stdout?: string };
    throw new Error(`The types of ${npmPackageName} cannot be created: ${stdout || (error as Error).message}`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
