import { execFileSync } from 'node:child_process';

/**
 * When everything in a package was made: SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/), else when the
 * sources in `folder` were committed. Never the clock: two builds of one commit are the same.
 */
export function builtAt(folder: string, { SOURCE_DATE_EPOCH: given, ...env }: NodeJS.ProcessEnv): Date {
  const seconds = given ?? committedAt(folder, env);
  // The format of .zip knows no time before 1980, and two seconds of those that there are.
  if (!/^\d{1,10}$/.test(seconds) || Number(seconds) < 315_532_800) {
    throw new Error(
      `SOURCE_DATE_EPOCH is ${JSON.stringify(seconds)}: expected the seconds since 1970 of a moment after 1980.`,
    );
  }
  return new Date(Number(seconds) * 1000);
}

function committedAt(folder: string, env: NodeJS.ProcessEnv): string {
  try {
    const asked = ['-C', folder, 'log', '-1', '--format=%ct'];
    return execFileSync('git', asked, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  } catch (error) {
    throw new Error(
      `When the sources were committed is not known, since ${folder} is no git repository: set SOURCE_DATE_EPOCH.`,
      { cause: error },
    );
  }
}
