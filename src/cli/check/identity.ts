import type { TokenSeen } from '../../check/context.ts';
import { notProven, ok, problem } from '../../check/finding.ts';
import { assignIdentity, type KnownVm, listIdentities, showProxyAgent } from '../../check/remedy.ts';
import type { Config } from '../../config.ts';
import type { CheckContext } from './context.ts';
import type { Finding } from './finding.ts';

export async function checkIdentity(context: CheckContext): Promise<readonly Finding[]> {
  const [tokens, vm] = await Promise.all([context.tokens(), context.vm()]);
  return identityFindings(context.config.identity, tokens, vm);
}

/** One failure stands for all: its cause affects every token. */
export function identityFindings(
  { clientId }: Config['identity'],
  tokens: readonly TokenSeen[],
  vm: KnownVm,
): readonly Finding[] {
  if (tokens.length === 0) {
    return [ok('identity.token', 'No identity is needed: no sink that is configured asks for a token.')];
  }
  const audiences = tokens.map(({ scope }) => new URL(scope).host).join(' and ');
  const failed = tokens.find(({ failure }) => failure !== null)?.failure;
  if (failed) {
    return [
      problem('identity.token', failed.reason, remedyFor(failed, clientId, vm)),
      notProven('identity.which', 'Not known until a token is issued.'),
    ];
  }
  return [ok('identity.token', `Tokens were issued for ${audiences}.`), which(tokens, clientId)];
}

function which(tokens: readonly TokenSeen[], configured: string | null): Finding {
  const claims = tokens.find((token) => token.claims !== null)?.claims;
  if (!claims) return notProven('identity.which', 'The tokens have no claim that identifies the identity.');
  const { clientId, objectId, tenantId, resourceId } = claims;
  const ids = `client id ${clientId ?? 'unknown'}, object id ${objectId ?? 'unknown'}, tenant ${tenantId ?? 'unknown'}`;
  if (configured !== null && clientId?.toLowerCase() !== configured.toLowerCase()) {
    return problem(
      'identity.which',
      `The tokens are for another identity than identity.clientId names (${configured}): ${ids}. Something intercepts the requests to its token endpoint.`,
    );
  }
  const assigned = /\/userAssignedIdentities\/([^/]+)$/i.exec(resourceId ?? '')?.[1];
  if (configured !== null) return ok('identity.which', `The identity ${assigned ?? 'of identity.clientId'}: ${ids}.`);
  if (assigned === undefined) return ok('identity.which', `The system-assigned identity of this VM: ${ids}.`);
  return ok(
    'identity.which',
    `The only identity of this VM, ${assigned}: ${ids}. Name it in identity.clientId before the VM gets another.`,
  );
}

function remedyFor(
  { code, reason }: { readonly code: string; readonly reason: string },
  clientId: string | null,
  vm: KnownVm,
): string | undefined {
  if (code === 'token-refused') return showProxyAgent(vm);
  if (code !== 'token-no-identity') return undefined;
  return /multiple/i.test(reason) ? listIdentities(vm) : assignIdentity(vm, clientId);
}
