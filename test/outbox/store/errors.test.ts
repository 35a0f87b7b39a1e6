import { expect, test } from 'vitest';
import { faultOf, ifSound, OutboxDamaged } from '../../../src/outbox/store/errors.ts';

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

test.each([
  { what: 'no memory', error: sqlite(7) },
  { what: 'no more open files', error: sqlite(14) },
  { what: 'no index of the log', error: sqlite(5386) },
  { what: 'a full disk', error: sqlite(13) },
  { what: 'a lock', error: sqlite(5) },
  { what: 'the system', error: Object.assign(system('EMFILE'), { syscall: 'open' }) },
])('a refusal by $what proves nothing about the file, and is thrown', ({ error }) => {
  const refuse = (): never => {
    throw error;
  };
  expect(() => ifSound(refuse)).toThrow(error);
});

test.each([
  { what: 'a malformed page', error: sqlite(267) },
  { what: 'a table that is missing', error: sqlite(1) },
  { what: 'another file', error: sqlite(26) },
  { what: 'a sector that cannot be read', error: sqlite(266) },
  { what: 'a file that is cut off', error: sqlite(522) },
  { what: 'a row that is not as it was written', error: new OutboxDamaged('a row') },
])('$what is what a file holds, and nothing is found there', ({ error }) => {
  const fail = (): never => {
    throw error;
  };
  expect(ifSound(fail)).toBeUndefined();
});
