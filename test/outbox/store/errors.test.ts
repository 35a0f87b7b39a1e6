import { expect, test } from 'vitest';
import { faultOf, OutboxDamaged } from '../../../src/outbox/store/errors.ts';

const sqlite = (errcode: number): Error =>
  Object.assign(new Error('says SQLite'), { code: 'ERR_SQLITE_ERROR', errcode });
const system = (code: string): Error => Object.assign(new Error('says the system'), { code });

test.each([
  { error: sqlite(13), kind: 'full', code: 'sqlite-13' },
  { error: sqlite(11), kind: 'damaged', code: 'sqlite-11' },
  { error: sqlite(267), kind: 'damaged', code: 'sqlite-11' },
  { error: sqlite(26), kind: 'damaged', code: 'sqlite-26' },
  { error: sqlite(5), kind: 'busy', code: 'sqlite-5' },
  { error: sqlite(778), kind: 'unavailable', code: 'sqlite-10' },
  { error: sqlite(14), kind: 'unavailable', code: 'sqlite-14' },
  { error: system('ENOSPC'), kind: 'full', code: 'ENOSPC' },
  { error: system('EDQUOT'), kind: 'full', code: 'EDQUOT' },
  { error: system('EROFS'), kind: 'unavailable', code: 'EROFS' },
  { error: new OutboxDamaged('a row is missing'), kind: 'damaged', code: 'damaged' },
  { error: new TypeError('our own mistake'), kind: 'unavailable', code: 'unexpected' },
  { error: 'thrown by a stranger', kind: 'unavailable', code: 'unexpected' },
])('the kind of a disk error: $code is $kind', ({ error, ...expected }) => {
  expect(faultOf(error)).toMatchObject(expected);
});
