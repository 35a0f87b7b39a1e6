import { readFileSync } from 'node:fs';
import { serviceName } from '../names.ts';
import { type Ended, lastWord, runProgram } from '../program.ts';
import { Refusal } from '../refusals.ts';
import { fromRoot, type Places } from './places.ts';

/** Who installs: root, but in tests. */
export const ownUid = (): number => process.geteuid?.() ?? 0;

/** The account that the service runs as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Null without one. */
export function accountIn({ passwd }: Pick<Places, 'passwd'>): Account | null {
  const [, , uid, gid] = fieldsIn(passwd) ?? [];
  return uid && gid && Number.isInteger(Number(uid)) && Number.isInteger(Number(gid))
    ? { uid: Number(uid), gid: Number(gid) }
    : null;
}

/** The entry of our name in passwd(5) or group(5). */
function fieldsIn(file: string): string[] | null {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.find((line) => line.startsWith(`${serviceName}:`))?.split(':') ?? null;
  } catch {
    return null;
  }
}

const timeoutMs = 30_000;

/** In English: its output is parsed, and quoted in English sentences. */
const run = (program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> =>
  runProgram(program, args, { env: { ...env, LC_ALL: 'C' }, timeoutMs });

/** A system account without a password, a shell or a home directory. Its group may have outlived the account before. */
export async function makeAccount(places: Places, env: NodeJS.ProcessEnv): Promise<void> {
  const group = fieldsIn(places.group) === null ? ['--user-group'] : ['--gid', serviceName];
  const ended = await run(
    'useradd',
    [
      ...['--system', ...group, '--no-create-home', '--home-dir', fromRoot(places, places.state)],
      ...['--shell', '/usr/sbin/nologin', '--comment', 'Scheduled Events bridge', serviceName],
    ],
    env,
  );
  if (accountIn(places) !== null) return;
  if (ended.failed === 'ENOENT') {
    throw new Refusal(
      'missing',
      `The program useradd is missing, which creates the account ${serviceName}: install the package passwd or shadow-utils.`,
    );
  }
  const why = lastWord(ended);
  if (why.includes('cannot lock')) {
    throw new Refusal(
      'busy',
      `Another program, perhaps a package manager, is changing the accounts of this machine (${why.replace(/\.$/, '')}). Wait until it ends, then try again.`,
    );
  }
  throw new Refusal('notDone', `The account ${serviceName} cannot be created with useradd: ${why}.`);
}

/** The account and its group. @returns what could not be done, each a sentence. */
export async function removeAccount(places: Places, env: NodeJS.ProcessEnv): Promise<string[]> {
  if (accountIn(places) !== null) {
    const ended = await run('userdel', [serviceName], env);
    if (accountIn(places) !== null) {
      return [`The account ${serviceName} could not be removed (${lastWord(ended)}): userdel ${serviceName}`];
    }
  }
  // Where USERGROUPS_ENAB is off, as on SUSE, userdel leaves it.
  const group = fieldsIn(places.group);
  if (group === null) return [];
  const [, , , members = ''] = group;
  // userdel spares them as well, and groupdel would not.
  if (members !== '')
    return [`The group ${serviceName} stays, since others are in it: ${members.replaceAll(',', ', ')}.`];
  const ended = await run('groupdel', [serviceName], env);
  return fieldsIn(places.group) === null
    ? []
    : [`The group ${serviceName} could not be removed (${lastWord(ended)}): groupdel ${serviceName}`];
}
