import { expect, test } from 'vitest';
import { canRedraw } from '../../src/cli/live-output.ts';

test.for([
  { name: 'a terminal', terminal: { isTTY: true }, env: { TERM: 'xterm' }, expected: true },
  // https://no-color.org is about colours alone.
  { name: 'a terminal without colours', terminal: { isTTY: true }, env: { NO_COLOR: '1' }, expected: true },
  { name: 'a terminal that cannot move its cursor', terminal: { isTTY: true }, env: { TERM: 'dumb' }, expected: false },
  { name: 'a pipe', terminal: {}, env: {}, expected: false },
])('whether a picture can be drawn over itself on $name: $expected', ({ terminal, env, expected }) => {
  expect(canRedraw(terminal, env)).toBe(expected);
});
