import { expect, test } from 'vitest';
import { readClaims } from '../../../src/check/claims.ts';
import type { TokenSeen } from '../../../src/check/context.ts';
import { identityFindings } from '../../../src/cli/check/identity.ts';

const clientId = '11111111-1111-4111-8111-111111111111';
const vm = {
  vmName: 'web_3',
  resourceId: '/subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachines/web_3',
  subscriptionId: 's',
  resourceGroup: 'rg',
  vmScaleSetName: null,
  osType: 'Linux',
};
const inSet = {
  ...vm,
  vmScaleSetName: 'web',
  resourceId:
    '/subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachinescalesets/web/virtualmachines/3',
};
const scope = 'https://monitor.azure.com/.default';
const claims = { clientId, objectId: 'o', tenantId: 't', resourceId: vm.resourceId };
const given = (more: object = {}): TokenSeen => ({ scope, claims: { ...claims, ...more }, failure: null });
const refused = (code: string, reason = 'x'): TokenSeen => ({ scope, claims: null, failure: { code, reason } });
const userAssigned =
  '/subscriptions/s/resourcegroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/bridge';

test.for([
  {
    name: 'no sink needs one',
    tokens: [],
    wanted: null,
    what: 'identity.token',
    verdict: 'ok',
    message: /No identity is needed/,
  },
  {
    name: 'the one of the VM',
    tokens: [given()],
    wanted: null,
    what: 'identity.which',
    verdict: 'ok',
    message: /^The system-assigned .*object id o/,
  },
  {
    name: 'the only user-assigned one',
    tokens: [given({ resourceId: userAssigned })],
    wanted: null,
    what: 'identity.which',
    verdict: 'ok',
    message: /^The only identity of this VM, bridge: .*identity\.clientId/,
  },
  {
    name: 'the one that is named',
    tokens: [given({ resourceId: userAssigned })],
    wanted: clientId.toUpperCase(),
    what: 'identity.which',
    verdict: 'ok',
    message: /^The identity bridge/,
  },
  {
    name: 'another one than the one that is named',
    tokens: [given()],
    wanted: '22222222-2222-4222-8222-222222222222',
    what: 'identity.which',
    verdict: 'problem',
    message: /another identity than identity\.clientId names/,
  },
  {
    name: 'a token without claims about its identity',
    tokens: [{ scope, claims: null, failure: null }],
    wanted: null,
    what: 'identity.which',
    verdict: 'not-proven',
    message: /have no claim/,
  },
])('the finding about the identity: $name', ({ tokens, wanted, what, verdict, message }) => {
  const found = identityFindings({ clientId: wanted }, tokens, vm).find((one) => one.what === what);
  expect(found).toMatchObject({ verdict, message: expect.stringMatching(message) });
});

test.for([
  {
    name: 'none',
    of: vm,
    failure: refused('token-no-identity'),
    wanted: null,
    remedy: 'az vm identity assign --subscription s --resource-group rg --name web_3',
  },
  {
    name: 'none, in a scale set',
    of: inSet,
    failure: refused('token-no-identity'),
    wanted: null,
    remedy: 'az vmss identity assign --subscription s --resource-group rg --name web',
  },
  {
    name: 'several',
    of: vm,
    failure: refused('token-no-identity', '"Multiple user assigned…"'),
    wanted: null,
    remedy: 'az vm identity show --subscription s --resource-group rg --name web_3 --query userAssignedIdentities',
  },
  {
    name: 'not the one that is named',
    of: vm,
    failure: refused('token-no-identity'),
    wanted: clientId,
    remedy: `az vm identity assign --subscription s --resource-group rg --name web_3 --identities "$(az identity list --subscription s --query "[?clientId=='${clientId}'].id" --output tsv)"`,
  },
  {
    name: 'refused by the proxy agent',
    of: null,
    failure: refused('token-refused'),
    wanted: null,
    remedy:
      'az vm show --subscription <subscription> --resource-group <resource group> --name <VM> --query securityProfile.proxyAgentSettings',
  },
  {
    name: 'refused by the proxy agent, in a scale set, whose model has the settings',
    of: inSet,
    failure: refused('token-refused'),
    wanted: null,
    remedy:
      'az vmss show --subscription s --resource-group rg --name web --query virtualMachineProfile.securityProfile.proxyAgentSettings',
  },
  {
    name: 'none, in a resource group with parentheses',
    of: { ...vm, resourceGroup: 'web(test)' },
    failure: refused('token-no-identity'),
    wanted: null,
    remedy: 'az vm identity assign --subscription s --resource-group "web(test)" --name web_3',
  },
  { name: 'no answer', of: vm, failure: refused('token-unreachable'), wanted: null, remedy: undefined },
])('the remedy for a VM without a token: $name', ({ of, failure, wanted, remedy }) => {
  const [token, which] = identityFindings({ clientId: wanted }, [failure], of);
  expect(token).toMatchObject({ verdict: 'problem', what: 'identity.token' });
  expect(token?.remedy).toBe(remedy);
  expect(which?.verdict).toBe('not-proven');
});

test('the claims of a token are parsed, and invalid ones are ignored', () => {
  const token = (payload: string): string => `x.${Buffer.from(payload).toString('base64url')}.y`;
  expect(readClaims(token('{"appid":"a","oid":"o","tid":"t","xms_mirid":7}'))).toEqual({
    clientId: 'a',
    objectId: 'o',
    tenantId: 't',
    resourceId: null,
  });
  for (const nonsense of ['', 'a.b', token('null'), token('{')]) expect(readClaims(nonsense)).toBeNull();
});
