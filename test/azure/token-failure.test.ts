import { expect, test } from 'vitest';
import { tokenEndpoint, tokenFailure } from '../../src/azure/token-failure.ts';

const ofAzure = tokenEndpoint({});
const moved = tokenEndpoint({ AZURE_POD_IDENTITY_AUTHORITY_HOST: 'http://127.0.0.1:8080/vm/web_3' });
const answer = (status: number | null, message = '') => ({ status, retryAfterMs: null, message });

const cases = [
  {
    name: 'a silent endpoint of Azure',
    status: null,
    endpoint: ofAzure,
    message: /firewall .* blocks 169\.254\.169\.254/,
  },
  {
    name: 'a silent endpoint that was configured',
    status: null,
    endpoint: moved,
    message: /127\.0\.0\.1.*imds\.endpoint/,
  },
  { name: 'a 404 of Azure, which passes', status: 404, endpoint: ofAzure, message: /being updated/ },
  {
    name: 'a 404 of a path that was configured wrong, which does not',
    status: 404,
    endpoint: moved,
    message: /^http:\/\/127\.0\.0\.1:8080\/vm\/web_3 has no token endpoint .*imds\.endpoint/,
  },
  { name: 'a refusal by the proxy agent', status: 403, endpoint: ofAzure, message: /Metadata Security Protocol/ },
];

test.for([
  { name: 'without an identity', said: 'Identity not found', message: /: assign an identity to this VM/ },
  {
    name: 'with several identities',
    said: 'Multiple user assigned identities exist',
    message: /: name the one to use in identity/,
  },
])('the remedy for a VM $name is the only one shown', ({ said, message }) => {
  const { reason } = tokenFailure(answer(400, said), { clientId: null, endpoint: ofAzure });
  expect(reason).toMatch(message);
  expect(reason).not.toMatch(/az vm identity assign.*name the one|name the one.*az vm/);
});

test.for(cases)('the message for a token that was not received: $name', ({ status, endpoint, message }) => {
  const { reason } = tokenFailure(answer(status), { clientId: null, endpoint });
  expect(reason).toMatch(message);
  if (!endpoint.isOfAzure) expect(reason).not.toContain('169.254');
});
