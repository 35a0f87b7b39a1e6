import { expect, test } from 'vitest';
import { proxyBefore } from '../../src/azure/proxy.ts';

const proxy = 'http://user:secret@proxy:3128';
const cases: readonly { name: string; host?: string; env: NodeJS.ProcessEnv; found: string | null }[] = [
  { name: 'no variable, no proxy', env: {}, found: null },
  {
    name: 'HTTPS_PROXY is used first',
    env: { HTTPS_PROXY: proxy, HTTP_PROXY: 'http://other:1' },
    found: 'proxy:3128',
  },
  { name: 'HTTP_PROXY is used without it', env: { http_proxy: proxy }, found: 'proxy:3128' },
  { name: 'an empty variable is ignored', env: { HTTPS_PROXY: '' }, found: null },
  { name: 'an invalid URL is ignored', env: { HTTPS_PROXY: 'proxy' }, found: null },
  { name: 'a name in NO_PROXY goes past it', env: { HTTPS_PROXY: proxy, NO_PROXY: 'a, x.Example' }, found: null },
  { name: 'a domain in NO_PROXY goes past it', env: { HTTPS_PROXY: proxy, NO_PROXY: '.example' }, found: null },
  { name: 'an end of a name does not', env: { HTTPS_PROXY: proxy, NO_PROXY: 'ple,.mple' }, found: 'proxy:3128' },
  {
    name: 'the port of the host does not matter',
    host: 'x.example:5671',
    env: { HTTPS_PROXY: proxy, NO_PROXY: '*.example' },
    found: null,
  },
];

test.for(cases)('the proxy for a host: $name', ({ host = 'x.example', env, found }) => {
  expect(proxyBefore(host, env)?.host ?? null).toBe(found);
});
