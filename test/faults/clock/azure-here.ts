import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { AccessToken, TokenCredential } from '@azure/identity';
import type { AzureSimulator } from '../../../src/azure-simulator/index.ts';
import { silentLog } from '../../../src/log.ts';
import type { OpenSenders } from '../../../src/sender/senders.ts';
import type { FaultContext } from '../fault-test.ts';
import { fromSources } from '../sources.ts';

/** Lets this process trust the simulated services. */
export const trust = ({ ca }: Pick<AzureSimulator, 'ca'>): void =>
  setDefaultCACertificates([...getCACertificates('default'), ca]);

/** Where tokens come from. */
interface Tokens {
  readonly imds: Pick<AzureSimulator['imds'], 'url'>;
}

/** Tokens of the simulator. Microsoft's library keeps the first token host of a process, and here one simulator follows another. */
export const tokensOf = ({ imds }: Tokens): TokenCredential => ({
  async getToken(scopes): Promise<AccessToken> {
    const resource = String(scopes).replace(/\/\.default$/, '');
    const query = new URLSearchParams({ 'api-version': '2018-02-01', resource });
    const answer = await fetch(`${imds.url}/metadata/identity/oauth2/token?${query}`, {
      headers: { Metadata: 'true' },
    });
    const { access_token: token, expires_on: expiresOn } = (await answer.json()) as Record<string, string>;
    return { token: String(token), expiresOnTimestamp: 1000 * Number(expiresOn) };
  },
});

/** All sinks in this process, with the real libraries. */
export const sendersHere =
  (context: Pick<FaultContext, 'sources'>, azure: Tokens): OpenSenders =>
  async ({ config, clock, startDue }) => {
    const { createCredential } = await fromSources(context, 'azure/credential.ts');
    const { configuredSinks } = await fromSources(context, 'sinks/registry.ts');
    const credential = createCredential({ source: tokensOf(azure), clock, log: silentLog });
    const sinks = await Promise.all(
      configuredSinks(config.sinks).map(({ sink, section }) => sink.open(section, { credential, clock, startDue })),
    );
    return {
      sinks,
      heartbeats: [],
      credential,
      facts: () => [],
      startAhead() {},
      async close() {
        await Promise.all(sinks.map((sink) => sink.close()));
        credential.close();
      },
    };
  };
