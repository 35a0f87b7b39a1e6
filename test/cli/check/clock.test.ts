import { expect, test } from 'vitest';
import { clockFinding } from '../../../src/cli/check/clock.ts';
import { linux, windows } from '../../../src/operating-system.ts';

test.for([
  { offset: 0, verdict: 'ok', message: /is within 2 s of Azure's/ },
  { offset: -2, verdict: 'ok', message: /is within 2 s of Azure's/ },
  { offset: 3, verdict: 'warning', message: /3 s behind/ },
  { offset: -300, verdict: 'warning', message: /5 min ahead of/ },
  { offset: 301, verdict: 'problem', message: /5 min behind .*refused/ },
  { offset: -86_400, verdict: 'problem', message: /24 h ahead of/ },
  { offset: 864_000, verdict: 'problem', message: /10 d behind/ },
  { offset: null, verdict: 'not-proven', message: /had no date/ },
])('a clock that is $offset s off is $verdict', ({ offset, verdict, message }) => {
  const found = clockFinding(offset, linux);
  expect(found).toMatchObject({ verdict, message: expect.stringMatching(message) });
  expect(found.remedy !== undefined).toBe(verdict === 'warning' || verdict === 'problem');
  if (found.remedy) expect(clockFinding(offset, windows).remedy).toBe('w32tm /resync /force');
});
