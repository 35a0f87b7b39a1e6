import { expect, test } from 'vitest';
import { findLeaks } from '../../../../infra/acceptance/recordings/scan.ts';

/** The scanner must find what an anonymiser that does nothing leaves. */
const leaks: readonly { name: string; line: string }[] = [
  { name: 'a name', line: '{"a":"the orion-host"}' },
  { name: 'a name in upper case', line: '{"a":"ORION-HOST"}' },
  { name: 'a name in a key', line: '{"orion-host":1}' },
  { name: 'a name percent-encoded', line: '{"a":"orion%2Dhost"}' },
  { name: 'a name percent-encoded twice', line: '{"a":"orion%252Dhost"}' },
  { name: 'a name in HTML', line: '{"a":"orion&#45;host"}' },
  { name: 'a name with escapes', line: '{"a":"orion\\\\u002dhost"}' },
  { name: 'a name in base64', line: `{"a":"${btoa('x orion-host')}"}` },
  { name: 'a name in base64 within a word', line: `{"a":"abc${btoa('orion-host')}"}` },
  {
    name: 'a name in the base64 of UTF-16',
    line: `{"a":"${Buffer.from('orion-host', 'utf16le').toString('base64')}"}`,
  },
  { name: 'a short name', line: '{"a":"on w7!"}' },
  { name: 'a GUID', line: '{"a":"C7061BAC-AFDC-4513-B24B-AA5F13A16123"}' },
  { name: 'an address', line: '{"a":"at 10.1.2.3"}' },
  { name: 'an e-mail address', line: '{"a":"jane@contoso.com"}' },
  { name: 'a signature', line: '{"a":"?sv=1&sig=abc"}' },
  { name: 'a resource id', line: '{"a":"/subscriptions/prod"}' },
  { name: 'a date', line: '{"a":"Sat, 21 Nov 2026 09:15:00 GMT"}' },
  { name: 'an ISO date', line: '{"a":"2026-11-21T09:15:00Z"}' },
  { name: 'a VM', line: '{"document":{"Events":[{"Resources":["web"]}]}}' },
  { name: 'the observer', line: '{"vm":{"name":"web"}}' },
  { name: 'tags of a VM', line: '{"vm":{"name":"vm-0","tags":{}}}' },
  { name: 'what is not JSON', line: 'x' },
];

test.for(leaks)('the scanner finds $name', ({ line }) => {
  expect(findLeaks(`{"a":1}\n${line}\n`, ['orion-host', 'w7'])).toEqual([{ line: 2, rule: expect.any(String) }]);
});

test('the scanner finds nothing in pseudonyms', () => {
  const line =
    '{"a":"FACADE00-0000-4000-A000-000000000001 192.0.2.1 169.254.169.254 user-0@example.invalid, 2026-01-01T00:15:00Z w70 aw7","vm":{"name":"scale-set-0_3"}}';
  expect(findLeaks(line, ['orion-host', 'w7'])).toEqual([]);
});
