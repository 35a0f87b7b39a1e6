import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keepFolderFromOthers } from '../../../src/check/windows-access.ts';
import { accountNames, type DiskSeen, diskFindings, noDisk, seeDisk } from '../../../src/cli/check/disk.ts';
import { linux, windows } from '../../../src/operating-system.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';
import { linuxWords } from '../../support/linux-words.ts';

const whole: DiskSeen = {
  directory: '/state',
  exists: true,
  owner: 900,
  mode: 0o700,
  foreign: [],
  freeBytes: 10 * 2 ** 30,
  ownBytes: 0,
  network: null,
  fault: null,
  account: 0,
  isTemporary: false,
  access: null,
};
const nameOf = (uid: number): string => ({ 0: 'root', 900: 'bridge', 1000: 'ada' })[uid] ?? String(uid);
const denied = { code: 'EACCES', reason: 'it may not be written by this account (EACCES)' };

const everyone = { name: 'Everyone', isEveryone: true };
const closed = keepFolderFromOthers('C:\\state');

const rows: readonly {
  name: string;
  with: Partial<DiskSeen>;
  what: string;
  verdict: string;
  message: RegExp;
  remedy?: string;
}[] = [
  {
    name: 'all is well',
    with: {},
    what: 'disk.directory',
    verdict: 'ok',
    message: /owned by bridge; run the service as bridge or as root/,
  },
  {
    name: 'it does not exist yet',
    with: { exists: false },
    what: 'disk.directory',
    verdict: 'ok',
    message: /the service creates it/,
  },
  {
    name: 'it does not exist yet, and there is no space for it',
    with: { exists: false, freeBytes: 0 },
    what: 'disk.directory',
    verdict: 'not-proven',
    message: /^\/state does not exist, and its file system has no space/,
  },
  {
    name: 'the disk is full',
    with: { fault: { code: 'ENOSPC', reason: 'x' } },
    what: 'disk.directory',
    verdict: 'problem',
    message: /the disk is full\. Records are kept in memory/,
    remedy: 'df -h /state',
  },
  {
    name: 'its owner may not write',
    with: { fault: denied, account: 900 },
    what: 'disk.directory',
    verdict: 'problem',
    message: /EACCES/,
    remedy: 'chmod u+rwx /state',
  },
  {
    name: 'it is read-only',
    with: { fault: { code: 'EROFS', reason: 'read-only' } },
    what: 'disk.directory',
    verdict: 'problem',
    message: /read-only/,
    remedy: 'ls -ld /state /',
  },
  {
    name: 'it is not writable',
    with: { fault: denied, account: 1000 },
    what: 'disk.directory',
    verdict: 'not-proven',
    message: /check runs as ada.*Run check as bridge or as root/,
  },
  {
    name: 'root sees what the owner may not',
    with: { mode: 0o500 },
    what: 'disk.directory',
    verdict: 'problem',
    message: /may not be written by bridge/,
    remedy: 'sudo chmod u+rwx /state',
  },
  {
    name: 'it is on a network file system',
    with: { network: 'NFS' },
    what: 'disk.directory',
    verdict: 'warning',
    message: /network file system \(NFS\)/,
  },
  {
    name: 'a file is of another account',
    with: { foreign: [{ file: 'outbox.sqlite', owner: 0 }] },
    what: 'disk.owner',
    verdict: 'problem',
    message: /^outbox\.sqlite belongs to root, the directory to bridge/,
    remedy: 'sudo chown -R bridge /state',
  },
  {
    name: 'a file is of another account than root',
    with: { owner: 0, foreign: [{ file: 'outbox.sqlite', owner: 900 }] },
    what: 'disk.owner',
    verdict: 'warning',
    message: /bridge/,
    remedy: 'sudo chown -R root /state',
  },
  {
    name: 'there is space',
    with: {},
    what: 'disk.space',
    verdict: 'ok',
    message: /^10\.0 GB are free .* may use 256 MB\.$/,
  },
  {
    name: 'there is little space',
    with: { freeBytes: 100 * 2 ** 20 },
    what: 'disk.space',
    verdict: 'warning',
    message: /may use 5\.0 MB: .*5 %/,
    remedy: 'df -h /state',
  },
  {
    name: 'it is on the temporary disk',
    with: { isTemporary: true },
    what: 'disk.directory',
    verdict: 'warning',
    message: /^\/state is on the temporary disk of this VM: records .* are lost when the VM is redeployed/,
  },
  {
    name: 'there is no space',
    with: { freeBytes: 2 ** 20 },
    what: 'disk.space',
    verdict: 'problem',
    message: /too little\. Free some space/,
    remedy: 'df -h /state',
  },
];

test.for(rows)('the finding about the state directory: $name', ({ with: given, what, verdict, message, remedy }) => {
  const found = diskFindings({ ...whole, ...given }, { maxMegabytes: 256, nameOf, system: linux }).find(
    (one) => one.what === what,
  );
  expect(found).toMatchObject({ verdict, message: expect.stringMatching(message) });
  expect(found?.remedy).toBe(remedy);
});

const onWindows: readonly (Omit<(typeof rows)[number], 'name'> & { readonly name: string })[] = [
  { name: 'it is writable', with: {}, what: 'disk.directory', verdict: 'ok', message: /^C:\\state is writable\.$/ },
  {
    name: 'this user may not write',
    with: { fault: { code: 'EPERM', reason: 'x' } },
    what: 'disk.directory',
    verdict: 'not-proven',
    message: /run check as administrator\.$/,
    remedy: "icacls 'C:\\state'",
  },
  {
    name: 'another program holds its files',
    with: { fault: { code: 'EBUSY', reason: 'resource busy or locked' } },
    what: 'disk.directory',
    verdict: 'problem',
    message: /^Nothing can be written in the state directory: resource busy or locked\.$/,
    remedy: "icacls 'C:\\state'; icacls '.'",
  },
  {
    name: 'who may change it is not known',
    with: {},
    what: 'disk.owner',
    verdict: 'not-proven',
    message: /^The access rights of C:\\state could not be read\.$/,
    remedy: "icacls 'C:\\state'",
  },
  {
    name: 'only administrators and the service may change it',
    with: { access: { readers: [], writers: [] } },
    what: 'disk.owner',
    verdict: 'ok',
    message:
      /^C:\\state can be read by administrators and the service; only administrators and the service can change it\.$/,
  },
  {
    name: 'every user may change it',
    with: { access: { readers: [everyone], writers: [everyone] } },
    what: 'disk.owner',
    verdict: 'warning',
    message: /Everyone \(every user\) can change it, and with it what is sent\.$/,
    remedy: closed,
  },
  {
    name: 'there is no space',
    with: { freeBytes: 2 ** 20 },
    what: 'disk.space',
    verdict: 'problem',
    message: /too little/,
    remedy: 'Get-PSDrive -PSProvider FileSystem',
  },
];

test.for(onWindows)('the finding about the state directory on Windows: $name', (row) => {
  const seen = { ...whole, owner: 0, mode: 0o666, directory: 'C:\\state', account: null, ...row.with };
  const on = { maxMegabytes: 256, nameOf: accountNames('/no/such/file'), system: windows };
  const found = diskFindings(seen, on).find(({ what }) => what === row.what);
  expect(found).toMatchObject({ verdict: row.verdict, message: expect.stringMatching(row.message) });
  expect(found?.remedy).toBe(row.remedy);
  expect(`${found?.message} ${found?.remedy}`).not.toMatch(linuxWords);
});

test('a drive that is missing on Windows is a problem, with the command that lists those that are there', () => {
  expect(noDisk('E:\\state', 'E:\\', windows)).toMatchObject({
    what: 'disk.directory',
    verdict: 'problem',
    message: expect.stringMatching(
      /^The state directory E:\\state cannot be created, because there is no E:\\ on this machine/,
    ),
    remedy: 'Get-PSDrive -PSProvider FileSystem',
  });
});

test('looking at a state directory leaves nothing behind and makes nothing', () => {
  using directory = temporaryDirectory('check-disk');
  const state = join(directory.path, 'deep', 'state');
  expect(seeDisk(state)).toMatchObject({ exists: false, fault: null, foreign: [] });
  expect(readdirSync(directory.path)).toEqual([]);
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, 'outbox.sqlite'), 'x'.repeat(1000));
  chmodSync(state, 0o700);
  expect(seeDisk(state)).toMatchObject({ exists: true, mode: 0o700, fault: null, ownBytes: 1000, foreign: [] });
  expect(readdirSync(state)).toEqual(['outbox.sqlite']);
  expect(seeDisk(state).isTemporary).toBe(false);
  writeFileSync(join(directory.path, 'DATALOSS_WARNING_README.txt'), '');
  expect(seeDisk(state).isTemporary).toBe(true);
  const inTheWay = join(state, 'outbox.sqlite', 'state');
  expect(seeDisk(inTheWay).fault).not.toBeNull();
});

test('accounts are named as the system names them', () => {
  expect(accountNames()(0)).toBe('root');
  expect(accountNames('/no/such/file')(7)).toBe('the account 7');
});
