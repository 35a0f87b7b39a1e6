/** Builds packages and repositories of them, and verifies a package. See `--help`. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { print } from '../../src/cli/print.ts';
import { describeUsageError } from '../../src/cli/usage-error.ts';
import { builtAt } from './built-at.ts';
import { root } from './contents.ts';
import { makePackages, type Sources, sourcesHere } from './make-packages.ts';
import { makeNpmPackage } from './npm.ts';
import { makeSimulatorPackage } from './npm-simulator.ts';
import { type PlatformName, platformNames } from './platforms.ts';
import { makeRepository } from './repository.ts';
import { overBudget, sizeTable } from './sizes.ts';
import { faultsOfPackage } from './verify.ts';

/** Where the two npm packages are built. */
const npmFolders = { consumer: join(root, 'dist/npm'), simulator: join(root, 'dist/npm-simulator') };

/** The side effects of the command, except the files that it makes. */
interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly print: (text: string) => void;
  readonly say: (text: string) => void;
  /** What packages are made of, which takes a while to gather. */
  readonly sources: () => Promise<Sources>;
  /** Builds the npm package for consumers in a folder. */
  readonly consumer: (folder: string) => Promise<void>;
  /** Builds the npm package of the simulator in a folder. */
  readonly simulator: (folder: string) => Promise<void>;
}

const platformList = (value: string): readonly PlatformName[] => {
  const asked = value.split(',');
  const known = platformNames.filter((name) => asked.includes(name));
  if (known.length !== asked.length)
    throw new InvalidArgumentError(`Expected one or more of ${platformNames.join(', ')}, separated by commas.`);
  return known;
};

const help = `
Builds are reproducible: the same sources give the same bytes, for Windows with the same compiler. Times are those of the
commit, or SOURCE_DATE_EPOCH.
Requires npm, tar and gzip; rpmbuild for .rpm, and gcc-mingw-w64-x86-64 for Windows: without them the others are built.

To create a key, and to verify a package without this program:
  openssl genpkey -algorithm ed25519 -out key.pem
  openssl pkey -in key.pem -pubout -out public.pem
  openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
  sha256sum --check --ignore-missing SHA256SUMS

A repository requires gpg, apt-ftparchive (apt-utils), createrepo_c (createrepo-c) and rpmsign (rpm).

Exit codes:
  ${exitCodes.ok.code}   done
  ${exitCodes.unexpected.code}   the package was not built, exceeds its size budget, or is incomplete or changed; the message says why
  ${exitCodes.usage.code}   ${exitCodes.usage.meaning}
`;

/** Carries out the command line; returns the exit code. */
export async function main(
  args: readonly string[],
  { env, print, say, sources, consumer, simulator }: CommandContext,
): Promise<number> {
  let problems: readonly string[] = [];
  const makeConsumer = async (folder: string): Promise<void> => {
    await consumer(folder);
    print(`${folder} holds the package for consumers.\n`);
  };
  const folderFor = (name: keyof typeof npmFolders): string =>
    program.getOptionValueSource('out') === 'cli' ? program.opts().out : npmFolders[name];
  const program = new Command('package')
    .description('Builds the release packages, and prints their sizes; in dist/npm the package for consumers.')
    .addOption(
      new Option('--platform <names>', `one or more of ${platformNames.join(', ')}, separated by commas`)
        .argParser(platformList)
        .default(platformNames, 'all'),
    )
    .option('--sign <file>', 'sign the packages with this private Ed25519 key (PEM)')
    .option('--out <folder>', 'write them to this folder', join(root, 'dist/packages'))
    .addHelpText('after', help)
    .configureOutput({ writeOut: print, writeErr: () => {} })
    .exitOverride()
    .action(async ({ platform, sign, out }: { platform: readonly PlatformName[]; sign?: string; out: string }) => {
      const key = sign === undefined ? null : createPrivateKey(readFileSync(sign));
      const at = builtAt(root, env);
      const order = { platforms: platform, out, at, key, say: (sentence: string) => say(`${sentence}\n`) };
      const sizes = await makePackages(order, await sources());
      print(sizeTable(sizes));
      await makeConsumer(npmFolders.consumer);
      problems = overBudget(sizes);
    });
  program
    .command('consumer')
    .description('build only the npm package for consumers, in dist/npm or the folder of --out')
    .copyInheritedSettings(program)
    .action(() => makeConsumer(folderFor('consumer')));
  program
    .command('simulator')
    .description('build only the npm package of the simulator, in dist/npm-simulator or the folder of --out')
    .copyInheritedSettings(program)
    .action(async () => {
      const folder = folderFor('simulator');
      await simulator(folder);
      print(`${folder} holds the npm package of the simulator.\n`);
    });
  program
    .command('verify <folder>')
    .description('verify the files of an unpacked package')
    .option('--key <file>', 'also verify the signature with this public key (PEM)')
    .copyInheritedSettings(program)
    .action((folder: string, { key }: { key?: string }) => {
      const publicKey = key === undefined ? null : createPublicKey(readFileSync(key));
      problems = faultsOfPackage(folder, publicKey).map((fault) => `${folder}: ${fault}.`);
      if (problems.length === 0)
        print(`${folder} is complete and unchanged${publicKey === null ? '' : ', and signed with this key'}.\n`);
    });
  program
    .command('repository <folder>')
    .description(
      'make a signed repository for apt and dnf in a folder, or add packages to it; put the folder on any web server',
    )
    .requiredOption('--gpg-key <fingerprint>', 'sign with this OpenPGP key of gpg')
    .requiredOption('--url <address>', 'where the folder will be on the web')
    .option('--packages <folder>', 'the packages', join(root, 'dist/packages'))
    .copyInheritedSettings(program)
    .action(async (folder: string, { gpgKey, url, packages }: { gpgKey: string; url: string; packages: string }) => {
      const order = { folder, packages, key: gpgKey, url: url.replace(/\/+$/, ''), env };
      const held = await makeRepository(order);
      print(`${folder} holds ${held.join(', ')}.\n`);
    });
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.ok.code;
      say(`${describeUsageError(error.message)}\n`);
      return exitCodes.usage.code;
    }
    problems = [error instanceof Error ? error.message : String(error)];
  }
  for (const problem of problems) say(`${problem}\n`);
  return problems.length === 0 ? exitCodes.ok.code : exitCodes.unexpected.code;
}

if (import.meta.main) {
  process.exitCode = await main(process.argv.slice(2), {
    env: process.env,
    print,
    say: (text) => void process.stderr.write(text),
    sources: sourcesHere,
    consumer: makeNpmPackage,
    simulator: makeSimulatorPackage,
  });
}
