import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import manifest from '../../package.json' with { type: 'json' };
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { pageFiles } from '../../src/fleet-page/page-files.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Ends the program, with one sentence, on a Node.js that lacks what it needs. It stands before everything else and in syntax that
 * every Node.js reads, since an older one would fail at the first module that it does not have. The directive comes first: the
 * bundler's own would stand too late to count.
 */
function requireNode(program: ProgramName, least: string, exitCode: number): string {
  const [major = 0, minor = 0] = least.replace('>=', '').split('.').map(Number);
  return `"use strict";
(function () {
  var found = process.versions.node, parts = found.split(".").map(Number);
  if (parts[0] > ${major} || (parts[0] === ${major} && parts[1] >= ${minor})) return;
  console.error("${program} needs Node.js ${major}.${minor} or newer, but " + process.execPath + " is " + found + ": run it with a newer one, or install a package, which brings its own.");
  process.exit(${exitCode});
})();`;
}

/** The programs, each with the file that it begins with. Packages and images of the product hold the first; the other stays with developers. */
const programs = {
  'scheduled-events-bridge': 'src/main.ts',
  'scheduled-events-simulator': 'src/azure-simulator/main.ts',
} as const;
export type ProgramName = keyof typeof programs;

/** Of package.json the programs need the version only; Node gives a module of JSON as a whole. */
const versionOnly: Plugin = {
  name: 'version-only',
  setup: ({ onLoad }) =>
    onLoad({ filter: /package\.json$/ }, ({ path }) =>
      path === join(root, 'package.json')
        ? { contents: JSON.stringify({ version: manifest.version }), loader: 'json' }
        : null,
    ),
};

/** The page of `tail --web`, bundled now: without it, the module would bundle the page when it is run, with esbuild. */
const pageInside: Plugin = {
  name: 'page-inside',
  setup: ({ onLoad }) =>
    onLoad({ filter: /page-files\.ts$/ }, async ({ path }) =>
      path === join(root, 'src/fleet-page/page-files.ts')
        ? {
            contents: `const files = ${JSON.stringify(await pageFiles())};\nexport const pageFiles = async () => files;`,
          }
        : null,
    ),
};

/** The index of the package evaluates all of its credentials, which takes the process that fetches tokens 25 ms of CPU. */
const managedIdentityOnly: Plugin = {
  name: 'managed-identity-only',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^@azure\/identity$/ }, ({ importer }) =>
      importer === join(root, 'src/azure/token-source.ts')
        ? {
            path: join(root, 'node_modules/@azure/identity/dist/esm/credentials/managedIdentityCredential/index.js'),
          }
        : null,
    ),
};

/**
 * Packages that a library uses only where they are installed. They are not part of the program, and Node must not look for them: it
 * would also look in `C:\node_modules`, which any user of Windows can create, and run what it finds as the service or an administrator.
 */
const withoutOptional: Plugin = {
  name: 'without-optional',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^(?:kerberos|supports-color)$/ }, ({ path }) => ({ path, namespace: 'optional' }));
    onLoad({ filter: /.*/, namespace: 'optional' }, ({ path }) => ({
      contents: `throw new Error("${path} is not part of this program.");`,
    }));
  },
};

/**
 * One program as one file that needs nothing beside it but Node; the demo of the simulator also needs the bridge. What a command imports when
 * it is run (the Azure libraries) is in the file but evaluated only then. CommonJS, because some libraries `require` at run time and
 * because it loads faster than a module (124 ms against 135 ms) and takes 3 MB less. @returns what is in it, and why.
 */
export async function bundle(
  outfile: string,
  { program = 'scheduled-events-bridge', ...more }: BuildOptions & { readonly program?: ProgramName } = {},
): Promise<Metafile> {
  const { metafile } = await build({
    // Paths in the metafile are relative to it.
    absWorkingDir: root,
    entryPoints: [join(root, programs[program])],
    outfile,
    bundle: true,
    minify: true,
    // rhea-promise knows AMQP errors by the name of their constructor, among other things.
    keepNames: true,
    legalComments: 'none',
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    banner: {
      js: `#!/usr/bin/env node\n${requireNode(program, manifest.engines.node, exitCodes.nodeTooOld.code)}`,
    },
    // The Azure libraries ask whether a body is of this class, and naming it makes Node load its own copy of undici: a fifth of the start of a sender.
    define: { FormData: 'undefined' },
    logLevel: 'warning',
    plugins: [versionOnly, pageInside, managedIdentityOnly, withoutOptional],
    ...more,
    metafile: true,
  });
  writeFileSync(outfile, ascii(readFileSync(outfile, 'utf8')), { mode: 0o755 });
  chmodSync(outfile, 0o755);
  return metafile;
}

/** esbuild escapes all but regular expressions. One character beyond would make Node keep the whole program with two bytes for each of its characters. */
const ascii = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

if (import.meta.main) {
  for (const program of Object.keys(programs) as ProgramName[]) {
    const outfile = join(root, `dist/${program}.cjs`);
    await bundle(outfile, { program });
    const [size, packed] = [statSync(outfile).size, gzipSync(readFileSync(outfile)).length];
    console.log(`${outfile}: ${(size / 1e6).toFixed(2)} MB, ${(packed / 1e6).toFixed(2)} MB compressed`);
  }
}
