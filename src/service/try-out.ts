import { join } from 'node:path';
import { serviceName } from './names.ts';
import { layoutOf, type Package } from './package.ts';
import { lastWord, runProgram } from './program.ts';
import { Refusal } from './refusals.ts';

const trialMs = 60_000;

/**
 * Its runtime starts here, and its program is the version that it says. `noexec`: the refusal where its file system, or a security
 * module, forbids to execute it.
 */
export async function tryOut(
  folder: string,
  { version, platform }: Package,
  env: NodeJS.ProcessEnv,
  noexec: Refusal,
): Promise<void> {
  const { NODE_OPTIONS: _, ...plain } = env;
  const program = join(folder, layoutOf(platform).runtime);
  const ended = await runProgram(program, [join(folder, `${serviceName}.cjs`), 'version'], {
    env: plain,
    timeoutMs: trialMs,
  });
  if (ended.code === 0 && ended.out.split(/\s+/).includes(version)) return;
  switch (ended.failed) {
    case 'EACCES':
      throw noexec;
    case 'ENOENT':
    case 'ENOEXEC':
      throw new Refusal(
        'unsupported',
        `The runtime of the package cannot be executed on this machine (${ended.failed}): it is for another processor or another C library.`,
      );
  }
  if (ended.code === 0)
    throw new Refusal(
      'missing',
      `The package says that it is ${version}, and its program says ${JSON.stringify(ended.out.trim())}. Fetch it again.`,
    );
  throw new Refusal('unsupported', `The runtime of the package does not run on this machine: ${lastWord(ended)}.`);
}
