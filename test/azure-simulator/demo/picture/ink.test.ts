import { expect, test } from 'vitest';
import { join, piece, toText, toWidth, widthOf } from '../../../../src/azure-simulator/demo/picture/ink.ts';

test.for([
  { width: 3, text: 'abc' },
  { width: 5, text: 'abcde' },
  { width: 8, text: 'abcdef  ' },
  { width: 0, text: '' },
])('a row is cut or filled to $width columns', ({ width, text }) => {
  const row = toWidth([piece('abcd', 'strong'), piece('ef')], width);
  expect(toText(row, false)).toBe(text);
  expect(widthOf(row)).toBe(width);
});

test('neighbours of one ink become one piece', () => {
  const cells = [piece('a'), piece('b'), piece('c', 'broken'), piece('d', 'broken'), piece('e')];
  expect(join(cells)).toEqual([piece('ab'), piece('cd', 'broken'), piece('e')]);
});

test('ink is written only where there is colour', () => {
  const row = [piece('a', 'ended'), piece('b')];
  const esc = String.fromCharCode(27);
  expect(toText(row, true)).toBe(`${esc}[32ma${esc}[0mb`);
  expect(toText(row, false)).toBe('ab');
});
