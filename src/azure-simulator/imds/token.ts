import { guidOf } from '../guid-of.ts';
import type { TokenIssuer } from '../token-issuer.ts';
import { type Answer, json, type Request } from './answer.ts';
import type { Vm } from './vm.ts';

/**
 * `GET /metadata/identity/oauth2/token`.
 * https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
 *
 * @param identities client ids or resource ids of the VM's user-assigned identities; null: any id is one of them.
 */
export async function answerToken(
  request: Request,
  vm: Vm,
  issuer: TokenIssuer,
  identities: readonly string[] | null,
): Promise<Answer> {
  if (request.method !== 'GET') return { status: 405, headers: { allow: 'GET' }, body: '' };
  const resource = request.query.get('resource');
  if (request.query.get('api-version') === null) return refuse("Required query variable 'api-version' is missing");
  if (resource === null || resource === '') return refuse("Required query variable 'resource' is missing");
  const named = namedIdentity(request.query);
  if (identities !== null) {
    if (named !== null && !identities.some((one) => isSame(one, named))) return refuse('Identity not found');
    if (named === null && identities.length > 1) {
      return refuse(
        'Multiple user assigned identities exist, please specify the clientId / resourceId of the identity in the token request',
      );
    }
  }
  const clientId = named?.startsWith('/') ? guidOf(named.toLowerCase()) : named;
  const issued = await issuer.issue({ resource, clientId, vmResourceId: vm.resourceId });
  return json(200, {
    access_token: issued.token,
    client_id: issued.clientId,
    expires_in: String(issued.expiresOn - issued.notBefore),
    expires_on: String(issued.expiresOn),
    ext_expires_in: String(issued.expiresOn - issued.notBefore),
    not_before: String(issued.notBefore),
    resource,
    token_type: 'Bearer',
  });
}

/**
 * The requested identity, by its client id, its object id or its resource id; null: the system-assigned one. Object and client
 * id of an identity are the same here; the client id of one that is named by its resource id is derived from that.
 */
function namedIdentity(query: URLSearchParams): string | null {
  const names = ['client_id', 'object_id', 'msi_res_id', 'mi_res_id'].map((name) => query.get(name));
  return names.find((name) => name !== null) ?? null;
}

/** Letter case of ids does not matter. */
const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

function refuse(description: string): Answer {
  return json(400, { error: 'invalid_request', error_description: description });
}
