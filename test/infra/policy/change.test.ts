import { describe, expect, test } from 'vitest';
import { at } from '../../tools/policy/aliases.ts';
import type { Subject } from '../../tools/policy/condition.ts';
import { kinds } from '../../tools/policy/definition.ts';
import { isList, isObject, type Json, type JsonObject } from '../../tools/policy/expression.ts';
import { applicationName, changes, deeds } from '../../tools/policy/fleet-policy.ts';
import {
  after,
  application,
  type Described,
  galleryId,
  identityId,
  otherIdentityId,
  scaleSet,
  thirdIdentityId,
  virtualMachine,
} from '../../tools/policy/subjects.ts';

/** The applications that a change of a VM or scale set writes. */
function applicationsOf(properties: Json | undefined): readonly JsonObject[] {
  const inSet = at(properties ?? null, 'virtualMachineProfile.applicationProfile.galleryApplications');
  const list = inSet ?? at(properties ?? null, 'applicationProfile.galleryApplications');
  return isList(list) ? list.filter(isObject) : [];
}

const build = { 'virtual-machine': virtualMachine, 'scale-set': scaleSet };
const theirs = {
  ...application('antivirus', '3.1.0'),
  order: 1,
  configurationReference: 'https://example.test/antivirus',
};
const ours = (version: string): JsonObject => ({
  packageReferenceId: `${galleryId}/applications/${applicationName('x64')}/versions/${version}`,
  treatFailureAsDeploymentFailure: false,
  enableAutomaticUpgrade: false,
});

/** Carries out the changes one after the other, as remediation does. */
function remediated(kind: (typeof kinds)[number], subject: Subject): Subject {
  return changes(kind, subject)
    .flatMap(({ result }) => (result.kind === 'change' ? result.resources : []))
    .reduce((seen, change) => after(seen, change), subject);
}

describe.each(kinds)('a change of a %s', (kind) => {
  const made = (described: Described): readonly JsonObject[] =>
    changes(kind, build[kind](described)).flatMap(({ result }) => (result.kind === 'change' ? result.resources : []));
  const profile = (applications: readonly JsonObject[]): JsonObject => {
    const applicationProfile = { galleryApplications: applications };
    return kind === 'scale-set' ? { virtualMachineProfile: { applicationProfile } } : { applicationProfile };
  };
  const identified = { type: 'UserAssigned', userAssignedIdentities: { [identityId]: {} } };

  test(`adds the application behind those of others, without an order, never failing the request (${kind})`, () => {
    const [change, ...more] = made({ identity: identified, applications: [theirs] });
    expect(change?.properties).toEqual(profile([theirs, ours('1.0.0')]));
    expect(more).toEqual([]);
  });

  test(`replaces its own version only, and writes nothing else (${kind})`, () => {
    const old = { ...ours('0.9.0'), packageReferenceId: String(ours('0.9.0').packageReferenceId).toUpperCase() };
    const described = { identity: identified, applications: [old, theirs] };
    const [change, ...more] = made(described);
    const written = after(build[kind](described), change ?? {}).resource.properties;
    const version =
      kind === 'virtual-machine' ? { packageReferenceId: ours('1.0.0').packageReferenceId } : ours('1.0.0');
    expect(written).toMatchObject(profile([theirs, version as JsonObject]));
    expect(change && Object.keys(change).sort()).toEqual(['apiVersion', 'location', 'name', 'properties', 'type']);
    expect(more).toEqual([]);
  });

  /** https://github.com/Azure/azure-rest-api-specs: what an application may say, by the version that brought it. */
  const members: readonly (readonly [version: string, ...names: string[]])[] = [
    ['2021-07-01', 'packageReferenceId', 'configurationReference', 'order', 'tags'],
    ['2022-03-01', 'treatFailureAsDeploymentFailure', 'enableAutomaticUpgrade'],
  ];
  test.each(['2019-07-01', '2021-07-01', '2021-11-01', '2022-03-01', '2024-11-01'])(
    `adds nothing to a request of version %s that the version does not know (${kind})`,
    (apiVersion) => {
      const known = members.filter(([since]) => since <= apiVersion).flatMap(([, ...names]) => names);
      const added = made({ identity: identified, apiVersion }).flatMap(({ properties }) => applicationsOf(properties));
      expect(added.flatMap(Object.keys).filter((name) => !known.includes(name))).toEqual([]);
      expect(added.length).toBe(apiVersion >= '2022-03-01' ? 1 : 0);
    },
  );

  const identities = [
    { before: undefined, type: 'UserAssigned', has: [identityId] },
    { before: { type: 'SystemAssigned' }, type: 'SystemAssigned, UserAssigned', has: [identityId] },
    {
      before: {
        type: 'SystemAssigned, UserAssigned',
        userAssignedIdentities: { [otherIdentityId]: { clientId: 'c' } },
      },
      type: 'SystemAssigned, UserAssigned',
      has: [otherIdentityId, identityId],
    },
    {
      before: { type: 'UserAssigned', userAssignedIdentities: { [otherIdentityId]: {}, [thirdIdentityId]: {} } },
      type: 'UserAssigned',
      has: [otherIdentityId, thirdIdentityId, identityId],
    },
  ];
  test.each(identities)(
    `keeps the identities of $before.type and writes nothing else (${kind})`,
    ({ before, type, has }) => {
      const described = { ...(before && { identity: before }), applications: [ours('1.0.0')] };
      const [change, ...more] = made(described);
      const { identity, ...rest } = change ?? {};
      expect(identity).toEqual({ type, userAssignedIdentities: expect.anything() });
      expect(Object.keys(Object(identity).userAssignedIdentities)).toEqual(has);
      expect(Object.keys(rest).sort()).toEqual(['apiVersion', 'location', 'name', 'type']);
      expect(more).toEqual([]);
    },
  );

  const starts: readonly (Described & { readonly name: string })[] = [
    { name: 'nothing' },
    { name: 'applications of others', applications: [theirs] },
    { name: 'an old version', applications: [theirs, ours('0.9.0')] },
    { name: 'two old versions', applications: [ours('0.9.0'), ours('0.9.1')] },
    { name: 'a system-assigned identity', identity: { type: 'SystemAssigned' } },
  ];
  test.each(starts)(`ends there: after it, from $name, nothing is left to do (${kind})`, (described) => {
    const settled = remediated(kind, build[kind](described));
    expect(deeds(kind, settled)).toEqual(['listed: restarts wait']);
  });
});
