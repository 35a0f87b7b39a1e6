import { expect, test } from 'vitest';
import { admitsOnly, alsoFor, onlyFor, serviceSid, takeOver } from '../../../src/service/windows/acl.ts';

// https://learn.microsoft.com/windows-server/identity/ad-ds/manage/understand-security-identifiers names both.
test.each([
  ['TrustedInstaller', 'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464'],
  ['MSSQLSERVER', 'S-1-5-80-3880718306-3832830129-1677859214-2598158968-1052248003'],
])('the security identifier of %s follows from its name, in capital letters or not', (name, sid) => {
  expect([serviceSid(name), serviceSid(name.toLowerCase())]).toEqual([sid, sid]);
});

const service = serviceSid('scheduled-events-bridge');

test('permissions name identities by their identifiers, which are the same in every language', () => {
  expect(onlyFor('file', 'C:\\Program Data\\a b', 'S-1-5-80-1', 'read')).toEqual([
    'C:\\Program Data\\a b',
    '/inheritance:r',
    '/grant:r',
    '*S-1-5-18:(F)',
    '*S-1-5-32-544:(F)',
    '*S-1-5-80-1:(R)',
    '/Q',
  ]);
  expect(onlyFor('folder', 'C:\\a', 'S-1-5-80-1', 'enter').slice(3, 6)).toEqual([
    '*S-1-5-18:(OI)(CI)(F)',
    '*S-1-5-32-544:(OI)(CI)(F)',
    '*S-1-5-80-1:(RX)',
  ]);
  expect(onlyFor('folder', 'C:\\a', 'S-1-5-80-1', null)).toHaveLength(6);
  expect(alsoFor('C:\\a', 'S-1-5-80-1', 'write')).toEqual(['C:\\a', '/grant:r', '*S-1-5-80-1:(OI)(CI)(M)', '/Q']);
  expect(takeOver('C:\\a').map(([, verb]) => verb)).toEqual(['/setowner', '/reset']);
});

test.each([
  ['three identities, and nothing inherited', `D:PAI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FR;;;${service})`, true],
  [
    'the same in another order and notation',
    `D:P(A;;0x120089;;;${service})(A;OICI;FA;;;S-1-5-32-544)(A;;FA;;;SY)`,
    true,
  ],
  ['what is inherited', `D:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;FR;;;${service})`, false],
  ['another user', `D:PAI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FR;;;${service})(A;;FR;;;BU)`, false],
  ['no service', 'D:PAI(A;;FA;;;SY)(A;;FA;;;BA)', false],
  ['another service', `D:PAI(A;;FA;;;SY)(A;;FA;;;BA)(A;;FR;;;${serviceSid('other')})`, false],
  ['a denial', `D:PAI(D;;FR;;;${service})(A;;FA;;;SY)(A;;FA;;;BA)`, false],
  ['everybody, without a list', 'D:NO_ACCESS_CONTROL', false],
  ['nothing', '', false],
])('a list with %s: only those are admitted who should be: %s', (_, list, expected) => {
  expect(admitsOnly(`${list}\n`, service)).toBe(expected);
});
