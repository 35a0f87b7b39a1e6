import { expect, test } from 'vitest';
import { listed, rightsIn } from '../../src/check/sddl.ts';
import { serviceSid } from '../../src/service/windows/acl.ts';

/**
 * Descriptors of Microsoft's documentation, of Windows itself, and of our installer.
 * https://learn.microsoft.com/windows/win32/secauthz/security-descriptor-string-format
 * https://learn.microsoft.com/windows/win32/secauthz/ace-strings
 */
const cases: readonly { name: string; sddl: string; readers: string; writers: string }[] = [
  {
    name: 'the first example of Microsoft: the owner and group are administrators, and so is who may do everything',
    sddl: 'O:AOG:DAD:(A;;RPWPCCDCLCSWRCWDWOGA;;;S-1-0-0)',
    readers: 'the account S-1-0-0',
    writers: 'the account S-1-0-0, the account AO',
  },
  {
    name: 'a file in a folder of ProgramData that was created without further thought',
    sddl: 'O:BAG:S-1-5-21-397955417-626881126-188441444-513D:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)',
    readers: 'Users (every user)',
    writers: 'administrators and the service',
  },
  {
    name: 'a folder in ProgramData that was created without further thought',
    sddl: 'O:BAG:DUD:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIIOID;GA;;;CO)(A;OICIID;0x1200a9;;;BU)(A;CIID;DCLCRPCR;;;BU)',
    readers: 'Users (every user)',
    writers: 'Users (every user)',
  },
  {
    name: 'the system and administrators alone, without inheritance',
    sddl: 'O:SYG:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)',
    readers: 'administrators and the service',
    writers: 'administrators and the service',
  },
  {
    name: 'the same by SID, with the account of our service',
    sddl: `O:BAG:SYD:PAI(A;;FA;;;S-1-5-18)(A;;FA;;;S-1-5-32-544)(A;;0x1301bf;;;${serviceSid('scheduled-events-bridge')})`,
    readers: 'administrators and the service',
    writers: 'administrators and the service',
  },
  {
    name: 'no list at all grants everything to everyone',
    sddl: 'O:BAG:SYD:NO_ACCESS_CONTROL',
    readers: 'Everyone (every user)',
    writers: 'Everyone (every user)',
  },
  {
    name: 'an empty list grants nothing',
    sddl: 'O:BAG:SYD:P',
    readers: 'administrators and the service',
    writers: 'administrators and the service',
  },
  {
    name: 'a denial before a grant takes it away, one behind it does not',
    sddl: 'O:BAG:SYD:P(D;;FR;;;BU)(A;;FR;;;BU)(A;;FR;;;AU)(D;;FR;;;AU)',
    readers: 'Authenticated Users (every user)',
    writers: 'administrators and the service',
  },
  {
    name: 'what is denied to everyone is denied to each',
    sddl: 'O:BAG:SYD:P(D;;0x1;;;WD)(A;;0x1200a9;;;S-1-5-21-1-2-3-1001)',
    readers: 'administrators and the service',
    writers: 'administrators and the service',
  },
  {
    name: 'an owner may always change the rights',
    sddl: 'O:S-1-5-21-1-2-3-1001G:SYD:P(A;;FA;;;SY)',
    readers: 'administrators and the service',
    writers: 'the account S-1-5-21-1-2-3-1001',
  },
  {
    name: 'unless OWNER RIGHTS says what it may do',
    sddl: 'O:S-1-5-21-1-2-3-1001G:SYD:P(A;;FR;;;OW)(A;;FA;;;SY)',
    readers: 'administrators and the service',
    writers: 'administrators and the service',
  },
  {
    name: 'a grant with a condition counts, and the audit list does not',
    sddl: 'O:SYG:SYD:(XA;;FX;;;S-1-1-0;(@User.Title=="PM" && (@User.Division=="Finance")))(XA;;FR;;;LS;(Member_of {SID(BA)}))S:(AU;SAFA;WDWOSDDTCCDC;;;WD)',
    readers: 'LOCAL SERVICE',
    writers: 'administrators and the service',
  },
];

test.for(cases)('SDDL: $name', ({ sddl, readers, writers }) => {
  const rights = rightsIn(sddl);
  expect([listed(rights?.readers ?? []), listed(rights?.writers ?? [])]).toEqual([readers, writers]);
});

test.each(['', 'config.json', 'O:BAG:SY', 'Get-Acl : Cannot find path'])('%j is no descriptor', (text) => {
  expect(rightsIn(text)).toBeNull();
});
