import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { cache, whyNoMachine } from './image.ts';
import { makeVersions } from './packages.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder that `makeVersions` has filled. */
    readonly packages: string;
  }
}

/** Packages once for all test files. */
export default async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'host-packages-'));
  provide('packages', folder);
  if (whyNoMachine === '') {
    mkdirSync(cache, { recursive: true });
    await makeVersions(folder, cache);
  }
  return () => rmSync(folder, { recursive: true, force: true });
}
