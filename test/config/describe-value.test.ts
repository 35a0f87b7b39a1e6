import { expect, test } from 'vitest';
import { connectionString, load } from './load.ts';

test.for([
  [
    'under its own key, but malformed',
    { sinks: { eventHubs: { eventHubName: 'hub', connectionString: 'c2VjcmV0' } } },
    {},
  ],
  ['under a misspelt key', { sinks: { eventHubs: { conectionString: connectionString } } }, {}],
  ['in the wrong place', { sinks: { eventHubs: connectionString } }, {}],
  ['as part of something else', { sinks: { eventHub: { connectionString } } }, {}],
  ['in a misspelt variable', {}, { SCHEDULED_EVENTS_BRIDGE_EVENT_HUBS_CONNECTIONSTRING: 'c2VjcmV0' }],
  ['in a file that others can read', { sinks: { eventHubs: { connectionString, eventHubName: 'hub' } } }, {}],
  ['as a password of a proxy', { proxy: { url: 'http://user:c2VjcmV0@proxy:3128' } }, {}],
  ['as a password of a proxy that is no URL', { proxy: { url: 'http://user:c2Vj/cmV0@proxy' } }, {}],
  ['as a password of a proxy under a misspelt key', { proxy: { urll: 'http://user:c2Vj/cmV0@proxy' } }, {}],
  ['in the URL of a misspelled key', { sinks: { http: { urll: 'https://x/api?code=c2VjcmV0' } } }, {}],
  ['in a misspelled variable with a URL', {}, { SCHEDULED_EVENTS_BRIDGE_SINKS_HTTP_URI: 'https://x/?code=c2VjcmV0' }],
  ['as an unknown key of another section', { http: { key: 'c2VjcmV0' } }, {}],
  ['in an object where text belongs', { log: { level: { key: 'c2VjcmV0' } } }, {}],
  ['in a list of objects', { observer: { tags: [{ key: 'c2VjcmV0' }] } }, {}],
  ['in a section that is a list', { sinks: { http: ['c2VjcmV0'] } }, {}],
  ['in the query of a URL', { imds: { endpoint: 'http://x/?key=c2VjcmV0' } }, {}],
  ['as the user of a URL', { imds: { endpoint: 'http://c2VjcmV0@x/' } }, {}],
  ['as the path of a URL', { sinks: { logAnalytics: { endpoint: 'https://x/c2VjcmV0c2VjcmV0' } } }, {}],
  ['in a file that is not JSON', `{ "sinks": { "eventHubs": { "connectionString": "${connectionString}" x } } }`, {}],
  ['in a file whose mistake is an unquoted value', '{ "connectionString": c2VjcmV0 }', {}],
] as const)('a secret is never shown: %s', ([, content, env]) => {
  const { problems } = load(content, { env, mode: 0o644 });
  expect(problems?.length).toBeGreaterThan(0);
  expect(problems?.join('\n')).not.toMatch(/c2Vj\/?cmV0/);
});
