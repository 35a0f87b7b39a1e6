import { describe, expect, test } from 'vitest';
import { meaningOfStatus } from '../../src/imds/http-status.ts';

const meaning = (status: number, { body = '', location = null as string | null } = {}) =>
  meaningOfStatus(status, { body, location, apiVersion: '2020-07-01' });

describe('the message for a status', () => {
  test.each([
    [204, 'http-204', /no content/],
    [302, 'http-302', /redirects .*imds\.endpoint/],
    [304, 'http-304', /unconditional/],
    [400, 'http-400', /api-version 2020-07-01.*Metadata: true/],
    [401, 'http-401', /proxy/],
    [403, 'http-403', /Metadata Security Protocol/],
    [404, 'http-404', /imds\.endpoint/],
    [405, 'http-405', /GET/],
    [407, 'http-407', /proxy/],
    [410, 'http-410', /70 s/],
    [429, 'http-429', /five requests a second/],
    [500, 'http-500', /service failed .*retrying/],
    [502, 'http-502', /service failed .*retrying/],
    [503, 'http-503', /unavailable .*retrying/],
    [504, 'http-504', /service failed .*retrying/],
    [206, 'http-2xx', /imds\.endpoint/],
    [300, 'http-3xx', /redirects/],
    [418, 'http-4xx', /imds\.endpoint/],
    [599, 'http-5xx', /service failed .*retrying/],
    [999, 'http-9xx', /service failed .*retrying/],
  ])('%i is called %s', (status, code, message) => {
    expect(meaning(status)).toMatchObject({ code, reason: expect.stringMatching(message) });
    expect(meaning(status).reason).toContain(`HTTP ${status}`);
  });
});

test("the service's own words are quoted, cut, on one line", () => {
  expect(meaning(400, { body: JSON.stringify({ error: 'Bad request.\nMissing header' }) }).reason).toContain(
    'HTTP 400: "Bad request. Missing header"',
  );
  expect(meaning(500, { body: JSON.stringify({ error: 'x'.repeat(9000) }) }).reason.length).toBeLessThan(400);
  for (const body of ['', 'null', '<html>', '{"error":7}'])
    expect(meaning(500, { body }).reason).toContain('(HTTP 500)');
});

test('a redirect names its target', () => {
  expect(meaning(302, { location: 'http://login.invalid/portal' }).reason).toContain(
    'to "http://login.invalid/portal"',
  );
});

test('there are not many codes', () => {
  const codes = new Set(Array.from({ length: 900 }, (_, index) => meaning(index + 100).code));
  expect(codes.size).toBeLessThan(40);
});
