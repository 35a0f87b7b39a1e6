/** Makes the packages that are handed out, and repositories of them, and verifies one. `--help` tells the rest. */
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { builtAt } from './built-at.ts';
import { root } from './contents.ts';
import { makePackages, type Sources, sourcesHere } from './make-packages.ts';
import { type PlatformName, platformNames } from './platforms.ts';
import { makeRepository } from './repository.ts';
import { overBudget, sizeTable } from './sizes.ts';
import { faultsOfPackage } from './verify.ts';

/** What the command does to the world but for the files that it makes. */
interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly print: (text: string) => void;
  readonly say: (text: string) => void;
  /** What packages are made of, which takes a while to gather. */
  readonly sources: () => Promise<Sources>;
}

const platformList = (value: string): readonly PlatformName[] => {
  const asked = value.split(',');
  const known = platformNames.filter((name) => asked.includes(name));
  if (known.length !== asked.length) throw new InvalidArgumentError(`Expected some of ${platformNames.join(',')}.`);
  return known;
};

const help = `
The packages are the same, byte for byte, whenever they are made of the same sources: times are those of the commit, or of SOURCE_DATE_EPOCH.
Needed are npm, tar, gzip, and rpmbuild for .rpm.

A key is made, and a package verified without this program, so:
  openssl genpkey -algorithm ed25519 -out key.pem
  openssl pkey -in key.pem -pubout -out public.pem
  openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig
  sha256sum --check --ignore-missing SHA256SUMS

A repository needs gpg, apt-ftparchive (apt-utils), createrepo_c (createrepo-c) and rpmsign (rpm).

Exit codes:
  ${exitCodes.ok.code}   done
  ${exitCodes.unexpected.code}   the package was not made, or is over its budget, or is not whole; the message says why
  ${exitCodes.usage.code}   ${exitCodes.usage.meaning}
`;

/** Carries out the command line; returns the exit code. */
export async function main(args: readonly string[], { env, print, say, sources }: CommandContext): Promise<number> {
  let problems: readonly string[] = [];
  const program = new Command('package')
    .description('Makes the packages that are handed out, and tells how large they are.')
    .addOption(
      new Option('--platform <names>', `some of ${platformNames.join(',')}`)
        .argParser(platformList)
        .default(platformNames, 'all of them'),
    )
    .option('--sign <file>', 'sign them with this private Ed25519 key, in PEM')
    .option('--out <folder>', 'put them there', join(root, 'dist/packages'))
    .addHelpText('after', help)
    .configureOutput({ writeOut: print, writeErr: () => {} })
    .exitOverride()
    .action(async ({ platform, sign, out }: { platform: readonly PlatformName[]; sign?: string; out: string }) => {
      const key = sign === undefined ? null : createPrivateKey(readFileSync(sign));
      const at = builtAt(root, env);
      const order = { platforms: platform, out, at, key, say: (sentence: string) => say(`${sentence}\n`) };
      const sizes = await makePackages(order, await sources());
      print(sizeTable(sizes));
      problems = overBudget(sizes);
    });
  program
    .command('verify <folder>')
    .description('say whether the package that was unpacked to a folder is whole')
    .option('--key <file>', 'and signed by who has the private one to this public key, in PEM')
    .copyInheritedSettings(program)
    .action((folder: string, { key }: { key?: string }) => {
      const publicKey = key === undefined ? null : createPublicKey(readFileSync(key));
      problems = faultsOfPackage(folder, publicKey).map((fault) => `${folder}: ${fault}.`);
      if (problems.length === 0) print(`${folder} is whole${publicKey === null ? '' : ', and signed by this key'}.\n`);
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
      say(`${error.message.replaceAll('\n', ' ')} (--help shows what there is)\n`);
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
    print: (text) => void process.stdout.write(text),
    say: (text) => void process.stderr.write(text),
    sources: sourcesHere,
  });
}
