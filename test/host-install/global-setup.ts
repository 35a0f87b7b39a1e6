import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { cache, whyNoMachine } from './image.ts';
import { removeLeftovers } from './leftovers.ts';
import { ownName } from './own-name.ts';
import { makeVersions } from './packages.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder that `makeVersions` has filled. */
    readonly packages: string;
  }
}

/** A folder for all that is temporary in this run, and in it the packages, made once for all test files. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  // Users other than root read what is put into machines and images, regardless of the caller's umask.
  process.umask(0o022);
  removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), ownName('')));
  process.env.TMPDIR = folder;
  const packages = join(folder, 'packages');
  provide('packages', packages);
  mkdirSync(packages);
  if (whyNoMachine === '') {
    mkdirSync(cache, { recursive: true });
    await makeVersions(packages, cache);
  }
  return () => rmSync(folder, { recursive: true, force: true });
}
