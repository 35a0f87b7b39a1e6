import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packages, packagesIn } from '../../../../infra/acceptance/azure/packages.ts';
import { createContext, createTools, inTurn, platformFound, type Reply, refuse } from './step-context.ts';

const archive = 'scheduled-events-bridge-0.2.0-linux-x64.tar.gz';
const debian = 'scheduled-events-bridge_0.2.0_amd64.deb';

test.for([
  { names: ['SHA256SUMS', archive, debian], expected: { version: '0.2.0', linux: archive, debian, windows: null } },
  {
    names: [
      'scheduled-events-bridge-0.3.0-beta.1-linux-x64.tar.gz',
      'scheduled-events-bridge_0.3.0~beta.1_amd64.deb',
      'scheduled-events-bridge-0.3.0-beta.1-win-x64.zip',
      'scheduled-events-bridge-0.3.0-1.x86_64.rpm',
      'scheduled-events-bridge-extension-0.3.0-win-x64.zip',
    ],
    expected: {
      version: '0.3.0-beta.1',
      linux: 'scheduled-events-bridge-0.3.0-beta.1-linux-x64.tar.gz',
      debian: 'scheduled-events-bridge_0.3.0~beta.1_amd64.deb',
      windows: 'scheduled-events-bridge-0.3.0-beta.1-win-x64.zip',
    },
  },
])('finds the packages in $names', ({ names, expected }) => {
  expect(packagesIn(names)).toEqual(expected);
});

test('fails without a package for Linux', () => {
  expect(() => packagesIn(['SHA256SUMS', archive])).toThrow(
    'The packages for Linux are not among the files that were built',
  );
});

const step = (replies: readonly Reply[]) => {
  const prepared = createContext(
    [
      ...replies,
      { to: 'storage account create', with: { id: '/subscriptions/a/storageAccounts/sebpkgk3x2ab' } },
      { to: 'container-rm create', with: {} },
      { to: 'role assignment create', with: {} },
    ],
    { platform: platformFound, login: { principalId: 'ann', principalType: 'User' } },
  );
  const tools = {
    ...createTools(),
    async buildPackages(folder: string) {
      mkdirSync(folder, { recursive: true });
      for (const name of [archive, debian]) writeFileSync(join(folder, name), name);
      return 'No package for Windows is made.';
    },
  };
  return { ...prepared, tools, run: () => packages({ against: 'azure', windows: true }, tools).run(prepared.context) };
};

/** https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes */
const notYet = refuse(
  'AuthorizationPermissionMismatch',
  'This request is not authorized to perform this operation using this permission.',
);

test('gives the account and the bridges their roles, and uploads until the first one is known', async () => {
  const { run, calls, context, tools, said, saved } = step([{ to: 'blob upload', with: inTurn(notYet, notYet, {}) }]);
  await run();
  const roles = calls.filter((line) => line.startsWith('role assignment create'));
  expect(roles[0]).toMatch(
    /--assignee-object-id ann .*--role Storage Blob Data Contributor --scope \/subscriptions\/a\/storageAccounts\/sebpkgk3x2ab$/,
  );
  expect(roles[1]).toMatch(
    /33333333.*--role Storage Blob Data Reader --scope .*\/blobServices\/default\/containers\/packages$/,
  );
  expect(tools.slept).toEqual([30, 30]);
  expect(context.found.get('packages')).toMatchObject({
    version: '0.2.0',
    configuration: 'https://sebpkgk3x2ab.blob.core.windows.net/packages/config.json',
    linuxArchive: `https://sebpkgk3x2ab.blob.core.windows.net/packages/${archive}`,
    windowsArchive: null,
  });
  expect(said).toContain('no package for Windows could be built: build.txt says why');
  // Only a person approves events, so that notices last as long as Azure says.
  expect(JSON.parse(saved.get('config.json') ?? '')).not.toHaveProperty('approve');
});

test('waits for a role for half an hour at most', async () => {
  const { run, tools } = step([{ to: 'blob upload', with: notYet }]);
  await expect(run()).rejects.toThrow('not authorized');
  expect(tools.slept.reduce((sum, seconds) => sum + seconds, 0)).toBe(30 * 60);
});

test('does not wait where the network of the account refuses', async () => {
  const { run, tools } = step([{ to: 'blob upload', with: refuse('ResourceNotFound', 'The account does not exist.') }]);
  await expect(run()).rejects.toThrow('does not exist');
  expect(tools.slept).toEqual([]);
});
