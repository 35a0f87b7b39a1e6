import { expect, test } from 'vitest';
import { section } from './read-documents.ts';

/** What exists before the removal, and what must be removed before Azure deletes it. */
const needsGone: Readonly<Record<string, readonly string[]>> = {
  assignment: [],
  rights: ['assignment'],
  initiative: ['assignment'],
  definitions: ['initiative'],
  'rights on the gallery': ['assignment'],
  'rights on the identity': ['assignment'],
  'applications on VMs': ['assignment'],
  'protection of the version': ['applications on VMs'],
  version: ['protection of the version'],
  application: ['version'],
  gallery: ['application', 'rights on the gallery'],
  'identity on VMs': ['applications on VMs'],
  locks: ['identity on VMs'],
  platform: ['identity on VMs', 'rights on the identity', 'gallery', 'locks'],
};

/** What a command removes. */
const takesAway: readonly (readonly [command: RegExp, what: string])[] = [
  [/^az policy assignment delete /, 'assignment'],
  [/^az role assignment delete .* --scope \/providers\/Microsoft.Management/, 'rights'],
  [/^az role assignment delete .* --scope <gallery resource id>$/, 'rights on the gallery'],
  [/^az role assignment delete .* --scope <identityResourceId>$/, 'rights on the identity'],
  [/^az policy set-definition delete /, 'initiative'],
  [/ az policy definition delete /, 'definitions'],
  [/^az vm application set /, 'applications on VMs'],
  [/^az resource update .*allowDeletionOfReplicatedLocations=true$/, 'protection of the version'],
  [/^az sig gallery-application version delete /, 'version'],
  [/^az sig gallery-application delete /, 'application'],
  [/^az sig delete /, 'gallery'],
  [/^az vm identity remove /, 'identity on VMs'],
  [/^az lock delete /, 'locks'],
  [/^az group delete /, 'platform'],
];

test('the commands of the removal remove everything, each after what depends on it', () => {
  const text = section('Remove it');
  const shown = [...text.matchAll(/^ *((?:for .*; do )?az .*)$|`(az [^`]+)`/gm)].map(
    ([, line, inline]) => line ?? inline ?? '',
  );
  const left = new Set(Object.keys(needsGone));
  for (const command of shown) {
    const what = takesAway.find(([pattern]) => pattern.test(command))?.[1];
    if (what === undefined) {
      expect(command).toMatch(/ (show|list)\b| vmss application$/);
      continue;
    }
    expect({ command, inTheWay: (needsGone[what] ?? []).filter((one) => left.has(one)) }).toEqual({
      command,
      inTheWay: [],
    });
    left.delete(what);
  }
  expect([...left]).toEqual([]);
});
