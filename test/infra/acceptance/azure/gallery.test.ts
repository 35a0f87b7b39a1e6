import { expect, test } from 'vitest';
import {
  galleryRemoveVersion,
  gallery as galleryStep,
  versionsOf,
} from '../../../../infra/acceptance/azure/gallery.ts';
import {
  createContext,
  createTools,
  inTurn,
  packagesFound,
  platformFound,
  type Reply,
  refuse,
} from './step-context.ts';

test.for([
  ['0.2.0', '0.2.0', '0.2.1', '0.2.2'],
  ['1.4.9-beta.1', '1.4.9', '1.4.10', '1.4.11'],
] as const)('an application has versions of three numbers: %s', ([version, first, next, refused]) => {
  expect(versionsOf(version)).toEqual({ first, next, refused });
});

const found = { packages: packagesFound, platform: platformFound };

/** https://learn.microsoft.com/azure/virtual-machines/vm-applications-how-to: a protected version cannot be deleted. */
const isProtected = refuse('OperationNotAllowed', 'The version is blocked from deletion.');

test('a version that was protected is deleted after the property is set, and proves it', async () => {
  const { context, calls, findings } = createContext(
    [
      { to: 'version delete', with: inTurn(isProtected, undefined) },
      { to: 'resource update', with: {} },
      { to: 'version list', with: [{ name: '0.2.0', state: 'Succeeded' }] },
    ],
    found,
  );
  await galleryRemoveVersion.run(context);
  expect(calls.map((line) => line.split(' --')[0])).toEqual([
    'sig gallery-application version delete',
    'resource update',
    'sig gallery-application version delete',
    'sig gallery-application version list',
  ]);
  expect(calls[1]).toContain('allowDeletionOfReplicatedLocations=true');
  expect(findings).toMatchObject([
    {
      assumption: 'gallery-delete-version',
      verdict: 'proven',
      evidence:
        'Azure refused to delete version 0.2.2 (OperationNotAllowed), and deleted it after the property was set.',
    },
  ]);
});

test('a version that is still listed refutes it', async () => {
  const { context, findings } = createContext(
    [
      { to: 'version delete', with: inTurn(isProtected, undefined) },
      { to: 'resource update', with: {} },
      { to: 'version list', with: [{ name: '0.2.2' }] },
    ],
    found,
  );
  await galleryRemoveVersion.run(context);
  expect(findings).toMatchObject([
    { verdict: 'refuted', evidence: 'Version 0.2.2 is still listed after its deletion.' },
  ]);
});

test('a version that was not protected proves nothing', async () => {
  const { context, findings } = createContext([{ to: 'version delete', with: undefined }], found);
  await expect(galleryRemoveVersion.run(context)).rejects.toThrow('although it was protected');
  expect(findings).toEqual([]);
});

const published: readonly Reply[] = [
  { to: 'identity create', with: { id: '/subscriptions/a/id-gallery', principalId: 'p' } },
  { to: /role assignment|storage blob upload|sig gallery-application/, with: {} },
  { to: 'what-if', with: { changes: [{ resourceId: '/a', changeType: 'NoChange' }] } },
];
const unreadable = refuse('DeploymentFailed', 'At least one resource deployment operation failed.');
/** https://learn.microsoft.com/azure/virtual-machines/vm-applications-publish-with-managed-identity */
const failedOperation = {
  target: { id: '/x', resourceType: 'Microsoft.Compute/galleries/applications/versions', resourceName: 'a/b/0.2.0' },
  status: { error: { code: 'InvalidParameter', message: 'The source blob is not accessible.' } },
};

test('waits until the gallery can read the packages, and deletes the versions that failed before', async () => {
  const deployed = { properties: { outputs: {} } };
  const { context, calls } = createContext(
    [
      { to: /deployment group create .*--name seb-k3x2ab-application/, with: inTurn(unreadable, deployed) },
      { to: 'deployment operation', with: [failedOperation] },
      { to: 'deployment group create', with: deployed },
      ...published,
    ],
    found,
  );
  const tools = createTools();
  await galleryStep({ against: 'azure', windows: false }, tools).run(context);
  expect(tools.slept).toEqual([120]);
  expect(calls.filter((line) => line.includes('version delete'))).toHaveLength(3);
  expect(context.found.get('gallery')).toMatchObject({
    linuxVersion: expect.stringMatching(/applications\/scheduled-events-bridge-acceptance-x64\/versions\/0\.2\.0$/),
    windowsVersion: null,
  });
});
