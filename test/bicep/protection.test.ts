import { describe, expect, test } from 'vitest';
import { check } from '../tools/bicep/check.ts';
import { type Deployed, deployedBy } from '../tools/bicep/deployed.ts';
import { textOf } from '../tools/bicep/files.ts';
import { createProject } from '../tools/bicep/project.ts';
import { createSecondReader } from '../tools/bicep/second-reader.ts';

const reader = await createSecondReader();
const path = 'infra/params/protected.bicepparam';
const group = '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg-keys/providers';
const keyIdentity = `${group}/Microsoft.ManagedIdentity/userAssignedIdentities/id-key`;
const captureIdentity = `${group}/Microsoft.ManagedIdentity/userAssignedIdentities/id-capture`;
const key = `param encryptionKey = {
  keyVaultUri: 'https://kv-example.vault.example/'
  keyName: 'records'
  identityResourceId: '${keyIdentity}'
}`;
const capture = `param capture = {
  storageAccountResourceId: '${group}/Microsoft.Storage/storageAccounts/st'
  containerName: 'records'
  identityResourceId: '${captureIdentity}'
}`;
const size = (skuName: string, maximum: number): string => `param eventHubSize = {
  skuName: '${skuName}'
  capacity: 1
  maximumThroughputUnits: ${maximum}
  partitionCount: 8
  retentionHours: 168
}`;

const projectWith = (...parameters: readonly string[]) => {
  const small = textOf('infra/params/small.bicepparam') ?? '';
  return createProject((name) => (name === path ? `${small}\n${parameters.join('\n')}\n` : textOf(name)), null);
};
const deployed = (...parameters: readonly string[]): readonly Deployed[] =>
  deployedBy(projectWith(...parameters), path);
const of = (resources: readonly Deployed[], type: string) =>
  resources.filter((resource) => resource.type === type).map(({ body }) => body);

describe('a key of your own', () => {
  test('is used by the namespace through its own identity, beside that of Capture', () => {
    const [namespace] = of(deployed(key, capture, size('Premium', 0)), 'Microsoft.EventHub/namespaces');
    expect(namespace).toMatchObject({
      identity: { type: 'UserAssigned', userAssignedIdentities: { [captureIdentity]: {}, [keyIdentity]: {} } },
      properties: {
        encryption: {
          keySource: 'Microsoft.KeyVault',
          keyVaultProperties: [{ keyName: 'records', identity: { userAssignedIdentity: keyIdentity } }],
        },
      },
    });
  });

  test('is left out, and no identity with it, unless it is given', () => {
    const [namespace] = of(deployed(), 'Microsoft.EventHub/namespaces');
    expect(namespace).toMatchObject({ identity: { type: 'None' }, properties: { encryption: null } });
  });

  test('is refused with Standard, as Azure would', () => {
    const findings = (...parameters: readonly string[]) => check(projectWith(...parameters), reader, [path]).join('\n');
    expect(findings(key, size('Standard', 4))).toContain(
      'properties.encryption.keySource cannot be Microsoft.KeyVault',
    );
    expect(findings(key, size('Premium', 0))).toBe('');
  });
});

describe('locks', () => {
  const locks = 'Microsoft.Authorization/locks';

  test('are absent unless configured', () => {
    expect(of(deployed(), locks)).toEqual([]);
  });

  test('prevent each namespace and a new workspace from being deleted', () => {
    const locked = of(deployed('param lockAgainstDeletion = true'), locks);
    expect(locked.map(({ scope }) => scope).toSorted()).toEqual(['«created»', '«namespace»']);
    for (const { properties } of locked) expect(properties).toMatchObject({ level: 'CanNotDelete' });
  });

  test('do not apply to an existing workspace', () => {
    const workspace = `param existingWorkspaceResourceId = '${group}/Microsoft.OperationalInsights/workspaces/log'`;
    const locked = of(deployed('param lockAgainstDeletion = true', workspace), locks);
    expect(locked.map(({ scope }) => scope)).toEqual(['«namespace»']);
  });
});

test('the logs of each namespace go to the workspace, those of failed captures among them', () => {
  const settings = of(deployed(), 'Microsoft.Insights/diagnosticSettings');
  const [ofNamespace] = settings.filter(({ scope }) => scope === '«namespace»');
  expect(ofNamespace?.properties).toEqual({
    workspaceId: '«deployedWorkspace.id»',
    logs: ['OperationalLogs', 'AutoScaleLogs', 'ArchiveLogs'].map((category) => ({ category, enabled: true })),
  });
});
