import { guidOf } from '../../../../../src/azure-simulator/guid-of.ts';
import { tenantId } from '../kinds.ts';
import { found, type Route } from '../reply.ts';

const login = 'login.microsoftonline.com';
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Of the account that is logged in. */
export const userObjectId = '33333333-3333-4333-8333-333333333333';

/** A token without a signature, which no client verifies. */
const token = (claims: object): string => `${part({ alg: 'none' })}.${part(claims)}.`;

/** Microsoft Entra ID and Microsoft Graph. */
export const accountRoutes: readonly Route[] = [
  // The newest version of the Azure CLI, for which it looks after a login.
  ...['GET', 'HEAD'].map(
    (method): Route => ({
      method,
      host: 'azcliprod.blob.core.windows.net',
      path: '/{path*}',
      reply: () => ({ status: 404 }),
    }),
  ),
  {
    // https://learn.microsoft.com/entra/msal/python/advanced/instance-discovery
    method: 'GET',
    host: login,
    path: '/common/discovery/instance',
    reply: () =>
      found({
        tenant_discovery_endpoint: `https://${login}/common/v2.0/.well-known/openid-configuration`,
        'api-version': '1.1',
        metadata: [
          { preferred_network: login, preferred_cache: 'login.windows.net', aliases: [login, 'login.windows.net'] },
        ],
      }),
  },
  {
    // https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc
    method: 'GET',
    host: login,
    path: '/{tenant}/v2.0/.well-known/openid-configuration',
    reply: (_, { tenant }) =>
      found({
        issuer: `https://${login}/${tenant}/v2.0`,
        authorization_endpoint: `https://${login}/${tenant}/oauth2/v2.0/authorize`,
        token_endpoint: `https://${login}/${tenant}/oauth2/v2.0/token`,
        device_authorization_endpoint: `https://${login}/${tenant}/oauth2/v2.0/devicecode`,
      }),
  },
  {
    // https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow#refresh-the-access-token
    method: 'POST',
    host: login,
    path: '/{tenant}/oauth2/v2.0/token',
    async reply(world, _, { body }) {
      const scope = new URLSearchParams(String(body)).get('scope') ?? '';
      const user = { oid: userObjectId, tid: tenantId, preferred_username: 'user@example.com', sub: 'subject' };
      const now = Math.floor(Date.now() / 1000);
      return found({
        token_type: 'Bearer',
        scope,
        expires_in: 3599,
        access_token:
          (await world.services.token(scope)) ??
          token({ ...user, aud: scope.split('/.default')[0], iat: now, exp: now + 3599 }),
        refresh_token: 'refresh',
        id_token: token({ ...user, aud: '04b07795-8ddb-461a-bbee-02f9e1bf7b46', iat: now, exp: now + 3599 }),
        client_info: part({ uid: userObjectId, utid: tenantId }),
      });
    },
  },
  {
    // https://learn.microsoft.com/graph/api/user-get
    method: 'GET',
    host: 'graph.microsoft.com',
    path: '/v1.0/me',
    reply: () => found({ id: userObjectId, displayName: 'User', userPrincipalName: 'user@example.com' }),
  },
  {
    // The CLI adds names to role assignments where it finds them. https://learn.microsoft.com/graph/api/directoryobject-getbyids
    method: 'POST',
    host: 'graph.microsoft.com',
    path: '/v1.0/directoryObjects/getByIds',
    reply: () => found({ value: [] }),
  },
  {
    // https://learn.microsoft.com/graph/api/serviceprincipal-list
    method: 'GET',
    host: 'graph.microsoft.com',
    path: '/v1.0/servicePrincipals',
    reply: () => found({ value: [{ id: guidOf('service principal'), displayName: 'Program' }] }),
  },
  {
    // https://learn.microsoft.com/graph/api/serviceprincipal-get
    method: 'GET',
    host: 'graph.microsoft.com',
    path: '/v1.0/servicePrincipals/{id}',
    reply: (_, { id }) => found({ id, displayName: 'Program' }),
  },
];
