import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { clients, run, whyNot } from './clients.ts';

const cases = [
  ['azidentity for Go', clients.go, 'identities'],
  ['azure-identity for Java', clients.java, 'identities'],
  ['azure_identity for Rust', clients.rust, 'identities'],
  ['azure-identity for Python', clients.python, 'test/third-party/python/identities.py'],
] as const;

const [one, other] = ['0b7e6c0e-52d1-4f0c-93b1-6ab1a7b1d0a4', '02aab8a4-74ef-476e-8182-f6d2ba4166a6'];
const resourceId =
  '/subscriptions/1/resourcegroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/Third';

for (const [name, client, command] of cases) {
  const reason = whyNot(client);
  test.skipIf(reason)(
    `${name} gets tokens of identities by client id, object id and resource id${reason}`,
    async () => {
      const azure = await startAzureSimulator();
      azure.imds.assignIdentities([one, other, resourceId]);
      const { tokens } = (await run(azure, client, command, one, other, resourceId)) as { tokens: string[] };
      const claims = tokens.map((token) => decodeJwt(token));
      expect(claims.map(({ appid, oid }) => [appid, oid])).toEqual([
        [one, one],
        [other, other],
        [expect.stringMatching(/^[0-9a-f-]{36}$/), claims[2]?.appid],
      ]);
      await azure.close();
      expect(azure.errors).toEqual([]);
    },
  );
}
