import { expect, test } from 'vitest';
import { clockFinding } from '../../../src/cli/check/clock.ts';

test.for([
  { offset: 0, verdict: 'ok', says: /within two seconds/ },
  { offset: -2, verdict: 'ok', says: /within two seconds/ },
  { offset: 3, verdict: 'warning', says: /3 s behind/ },
  { offset: -300, verdict: 'warning', says: /5 min ahead of/ },
  { offset: 301, verdict: 'problem', says: /5 min behind .*refused/ },
  { offset: -86_400, verdict: 'problem', says: /24 h ahead of/ },
  { offset: 864_000, verdict: 'problem', says: /10 days behind/ },
  { offset: null, verdict: 'not-proven', says: /did not tell/ },
])('a clock that is $offset s off is told as $verdict', ({ offset, verdict, says }) => {
  const found = clockFinding(offset, 'linux');
  expect(found).toMatchObject({ verdict, says: expect.stringMatching(says) });
  expect(found.mend !== undefined).toBe(verdict === 'warning' || verdict === 'problem');
  if (found.mend) expect(clockFinding(offset, 'win32').mend).toBe('w32tm /resync /force');
});
