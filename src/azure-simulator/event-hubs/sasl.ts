import type { SharedAccessKey } from './sas.ts';

/** A mechanism of one connection, as rhea drives it: `outcome` is whether the client is authenticated. */
interface Mechanism {
  outcome: boolean | undefined;
  start(response: Buffer | undefined): void;
}

/**
 * The SASL layer accepts every client, as the service does: its tokens identify it. Only PLAIN is judged here, by
 * the name and the value of a shared access key; such a client needs no token.
 *
 * @param signedIn is called when the key was right.
 */
export function saslMechanisms(
  { name, key }: SharedAccessKey,
  signedIn: () => void,
): Readonly<Record<string, () => Mechanism>> {
  const acceptAny = (): Mechanism => ({
    outcome: undefined,
    start() {
      this.outcome = true;
    },
  });
  const plain = (): Mechanism => ({
    outcome: undefined,
    start(response) {
      const [, keyName, keyValue] = (response?.toString('utf8') ?? '').split('\0');
      this.outcome = keyName === name && keyValue === key;
      if (this.outcome) signedIn();
    },
  });
  return { MSSBCBS: acceptAny, PLAIN: plain, ANONYMOUS: acceptAny, EXTERNAL: acceptAny };
}
