import { readFileSync } from 'node:fs';
import { fromRoot, type Places, serviceName } from './places.ts';
import { lastWord, runProgram } from './program.ts';
import { Refusal } from './refusals.ts';

/** The account that the service runs as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Null where there is none. */
export function accountIn({ passwd }: Pick<Places, 'passwd'>): Account | null {
  const line = linesOf(passwd).find((one) => one.startsWith(`${serviceName}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid && gid && Number.isInteger(Number(uid)) && Number.isInteger(Number(gid))
    ? { uid: Number(uid), gid: Number(gid) }
    : null;
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

const timeoutMs = 30_000;

/** A system account without a password, a shell or a home of its own. */
export async function makeAccount(places: Places, env: NodeJS.ProcessEnv): Promise<void> {
  const ended = await runProgram(
    'useradd',
    [
      ...['--system', '--user-group', '--no-create-home', '--home-dir', fromRoot(places, places.state)],
      ...['--shell', '/usr/sbin/nologin', '--comment', 'Scheduled Events bridge', serviceName],
    ],
    { env, timeoutMs },
  );
  if (accountIn(places) !== null) return;
  if (ended.failed === 'ENOENT') {
    throw new Refusal(
      'missing',
      `The program useradd is missing, which makes the account ${serviceName}: install the package passwd or shadow-utils.`,
    );
  }
  throw new Refusal('notDone', `The account ${serviceName} cannot be made with useradd: ${lastWord(ended)}.`);
}

/** @returns why it could not be done; null where it is gone. */
export async function removeAccount(places: Places, env: NodeJS.ProcessEnv): Promise<string | null> {
  if (accountIn(places) === null) return null;
  const ended = await runProgram('userdel', [serviceName], { env, timeoutMs });
  return accountIn(places) === null ? null : lastWord(ended);
}
