import { expect, test } from 'vitest';
import { failureOfDeadline, failureOfNetwork } from '../../src/imds/http-failure.ts';

const origin = 'http://169.254.169.254';
const error = (code: string): Error => Object.assign(new Error(`failed with ${code}`), { code });

test.each([
  ['ECONNREFUSED', 'connection-refused', /Nothing listens at http:\/\/169\.254\.169\.254/],
  ['ECONNRESET', 'connection-reset', /without an answer/],
  ['UND_ERR_SOCKET', 'connection-reset', /without an answer/],
  ['ENETUNREACH', 'no-route', /network of the host/],
  ['EHOSTUNREACH', 'no-route', /firewall/],
  ['EPERM', 'no-route', /firewall/],
  ['ENOTFOUND', 'name-not-found', /does not resolve/],
  ['ETIMEDOUT', 'connect-timeout', /imds\.endpoint/],
  ['UND_ERR_CONNECT_TIMEOUT', 'connect-timeout', /imds\.endpoint/],
  ['HPE_INVALID_CONSTANT', 'not-http', /not valid HTTP/],
  ['UND_ERR_HEADERS_OVERFLOW', 'not-http', /not valid HTTP/],
  ['UND_ERR_DESTROYED', 'aborted', /stopping/],
  ['EFUTURE', 'network-error', /failed with EFUTURE/],
])('%s is called %s', (code, called, message) => {
  expect(failureOfNetwork(error(code), { origin, hasBegun: false })).toMatchObject({
    kind: 'failure',
    code: called,
    reason: expect.stringMatching(message),
  });
});

test('the same reset after the headers cut an answer off', () => {
  expect(failureOfNetwork(error('ECONNRESET'), { origin, hasBegun: true }).code).toBe('cut-off');
  expect(failureOfNetwork(error('HPE_INVALID_CHUNK_SIZE'), { origin, hasBegun: true }).code).toBe('not-http');
});

test('the code is also found in a cause and in an error of several', () => {
  const wrapped = new Error('fetch failed', { cause: error('EHOSTUNREACH') });
  const several = new AggregateError([error('ECONNREFUSED'), error('ENETUNREACH')], '');
  expect(failureOfNetwork(wrapped, { origin, hasBegun: false }).code).toBe('no-route');
  expect(failureOfNetwork(several, { origin, hasBegun: false }).code).toBe('connection-refused');
  expect(failureOfNetwork(new Error('?'), { origin, hasBegun: false }).code).toBe('network-error');
});

test('a missed deadline reports how far the exchange came', () => {
  const missed = (isSent: boolean, hasBegun: boolean) => failureOfDeadline(10_000, { origin, isSent, hasBegun });
  expect(missed(false, false)).toMatchObject({ code: 'connect-timeout', reason: expect.stringContaining('10 s') });
  expect(missed(true, false)).toMatchObject({ code: 'timeout', reason: expect.stringContaining('did not answer') });
  expect(missed(true, true)).toMatchObject({ code: 'timeout', reason: expect.stringContaining('did not finish') });
});
