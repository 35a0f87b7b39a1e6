import { expect, test } from 'vitest';
import { join, span, toText, toWidth, widthOf } from '../../src/terminal/styled-text.ts';

test.for([
  { width: 3, text: 'abc' },
  { width: 5, text: 'abcde' },
  { width: 8, text: 'abcdef  ' },
  { width: 0, text: '' },
])('a row is cut or filled to $width columns', ({ width, text }) => {
  const row = toWidth([span('abcd', 'strong'), span('ef')], width);
  expect(toText(row, false)).toBe(text);
  expect(widthOf(row)).toBe(width);
});

test('adjacent spans of one style become one', () => {
  const cells = [span('a'), span('b'), span('c', 'broken'), span('d', 'broken'), span('e')];
  expect(join(cells)).toEqual([span('ab'), span('cd', 'broken'), span('e')]);
});

test('styles are written only where there is colour', () => {
  const row = [span('a', 'ended'), span('b')];
  const esc = String.fromCharCode(27);
  expect(toText(row, true)).toBe(`${esc}[32ma${esc}[0mb`);
  expect(toText(row, false)).toBe('ab');
});
