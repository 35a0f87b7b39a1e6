import { expect, test } from 'vitest';
import { versionToTryAfter } from '../../src/imds/instance-version.ts';

const refusal = (...versions: readonly string[]): string =>
  JSON.stringify({ error: 'Bad request. api-version is invalid.', 'newest-versions': versions });

test.each([
  { host: 'knows the one before', listed: ['2023-07-01', '2021-12-13', '2021-11-15'], next: '2023-07-01' },
  { host: 'lists them oldest first', listed: ['2021-05-01', '2021-12-13'], next: '2021-12-13' },
  {
    host: 'lists some that are not known here',
    listed: ['2029-01-01', '2022-01-01', '2021-02-01'],
    next: '2021-02-01',
  },
  { host: 'is older than what is needed', listed: ['2020-12-01', '2020-09-01'], next: null },
  { host: 'lists only what it has just refused', listed: ['2023-11-15'], next: null },
])('a host that $host is sent $next', ({ listed, next }) => {
  expect(versionToTryAfter(refusal(...listed))).toBe(next);
});

test.each(['', '<html>', '{"error":"Required metadata header not specified"}'])('%j names no version', (body) => {
  expect(versionToTryAfter(body)).toBeNull();
});
