import { expect, test } from 'vitest';
import { wrap } from '../../src/cli/wrap.ts';

test.for([
  { name: 'parts fill lines up to the width', parts: ['ab', 'cd', 'ef'], width: 5, lines: ['ab cd', 'ef'] },
  {
    name: 'a word wider than a line is not broken',
    parts: ['a', 'https://x.example', 'b'],
    width: 6,
    lines: ['a', 'https://x.example', 'b'],
  },
  { name: 'nothing takes no line', parts: [], width: 6, lines: [] },
])('$name', ({ parts, width, lines }) => {
  expect(wrap(parts, width)).toEqual(lines);
});
