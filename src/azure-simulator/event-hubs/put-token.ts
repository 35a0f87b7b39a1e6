import type { Message } from 'rhea';
import type { TokenIssuer } from '../token-issuer.ts';
import { type SharedAccessKey, sasRefusal } from './sas.ts';

export interface TokenCheck {
  readonly issuer: TokenIssuer;
  readonly sharedAccessKey: SharedAccessKey;
}

const audiences = ['https://eventhubs.azure.net', 'https://servicebus.azure.net'];

/**
 * Judges a `put-token` request of claims-based security.
 * https://docs.oasis-open.org/amqp/amqp-cbs/v1.0/amqp-cbs-v1.0.html
 */
export async function putToken(
  message: Message | undefined,
  { issuer, sharedAccessKey }: TokenCheck,
): Promise<{ readonly refusal: string | null; readonly audience: string }> {
  const asked = message?.application_properties ?? {};
  const audience = String(asked.name ?? '');
  const token = String(message?.body);
  if (asked.operation !== 'put-token') return { refusal: `operation ${asked.operation} is unknown`, audience };
  // Sniffed rather than read from `type`: a Python client sends signatures as type "jwt".
  const refusal = token.startsWith('SharedAccessSignature ')
    ? sasRefusal(token, audience, sharedAccessKey)
    : await issuer.refusal(token, audiences);
  return { refusal, audience };
}
