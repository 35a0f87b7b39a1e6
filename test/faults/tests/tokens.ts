import type { ImdsFault } from '../../../src/azure-simulator/index.ts';
import type { FaultTest } from '../fault-test.ts';
import { drawScenes, playScenes, type Scene } from '../wire/scene.ts';

/** The token endpoint is tried every 20 s; the first attempts come sooner. */
const mostHealSeconds = 30;

/** The endpoint fails from the start, so that neither sink ever had a token. */
const withoutTokens = (name: string, code: RegExp, fault: ImdsFault): Scene => ({
  name: `endpoint: ${name}`,
  sinks: ['event-hubs', 'log-analytics'],
  code,
  fromStart: true,
  begin: ({ azure }) => azure.imds.fault('token', fault),
  end: ({ azure }) => azure.imds.fault('token', null),
  heals: 'retries',
  mostHealSeconds,
  happened: ({ azure }) => azure.imds.requests('token'),
});

const expired = JSON.stringify({
  access_token: 'eyJhbGciOiJub25lIn0.e30.',
  expires_on: '1700000000',
  resource: 'https://monitor.azure.com',
  token_type: 'Bearer',
});

export const scenes: readonly Scene[] = [
  withoutTokens('hangs', /^token-(timeout|unreachable)$/, 'hang'),
  withoutTokens('resets connections', /^token-unreachable$/, 'reset'),
  // Not `token-not-ready`: the simulator's address is not that of Azure.
  withoutTokens('404', /^token-not-found$/, { status: 404 }),
  withoutTokens('410', /^token-not-ready$/, { status: 410 }),
  withoutTokens('429 for an hour', /^token-throttled$/, { status: 429, headers: { 'retry-after': '3600' } }),
  withoutTokens('500', /^token-server-error$/, { status: 500 }),
  withoutTokens('the identity was removed', /^token-no-identity$/, {
    status: 400,
    body: JSON.stringify({ error: 'invalid_request', error_description: 'Identity not found' }),
  }),
  withoutTokens('tokens that have expired', /^(token-|http-401$|unauthorized$)/, {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: expired,
  }),
  {
    name: 'tokens are revoked, and there are no others',
    sinks: ['event-hubs', 'log-analytics'],
    code: /^(token-|http-401$|unauthorized$)/,
    begin: ({ azure }) => {
      azure.imds.fault('token', { status: 500 });
      azure.revokeTokens();
      azure.eventHubs.dropConnections();
    },
    end: ({ azure }) => azure.imds.fault('token', null),
    heals: 'retries',
    mostHealSeconds,
    happened: ({ azure }) => azure.imds.requests('token'),
  },
];

/** The token endpoint fails while there is something to deliver. */
export const tokens: FaultTest = {
  id: 'tokens',
  title: 'the token endpoint fails, or gives tokens that are refused',
  kind: 'processes',
  cases: { quick: scenes.length, full: 5 * scenes.length },
  load: { seconds: 35, processors: 0.5 },
  async run(context) {
    return await playScenes(drawScenes(scenes, context), context, 5);
  },
};
