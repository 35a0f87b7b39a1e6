import { accessSync, constants, statSync } from 'node:fs';
import { Failure } from './exit-codes.ts';

/**
 * Does `work` as the user who owns this directory, so that no file in it becomes root's: the service, which runs as that
 * user, could not write it. Only root can change the user; any other user has to be the owner.
 * Not on Windows, where the owner follows from the permissions of the directory.
 * @throws Failure where this user is neither root nor the owner.
 */
export async function asOwner<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const { geteuid, getegid, getgroups, setgroups, setegid, seteuid } = process;
  const owner = statSync(directory);
  if (!geteuid || !getegid || !getgroups || !setgroups || !setegid || !seteuid) return work();
  if (geteuid() === owner.uid) return work();
  if (geteuid() !== 0) {
    throw new Failure(
      'notDone',
      `${directory} belongs to another user (uid ${owner.uid}), and no service is running that could do it: run the command as that user or as root.`,
    );
  }
  const [groups, gid] = [getgroups(), getegid()];
  setgroups([owner.gid]);
  setegid(owner.gid);
  seteuid(owner.uid);
  try {
    accessSync(directory, constants.X_OK);
    return await work();
  } finally {
    seteuid(0);
    setegid(gid);
    setgroups(groups);
  }
}
