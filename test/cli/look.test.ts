import { expect, test } from 'vitest';
import { lookOf, plainLook } from '../../src/cli/look.ts';

const terminal = { isTTY: true, columns: 120 };

test.for([
  { name: 'a terminal has its width and colour', stream: terminal, env: {}, look: { width: 120, colour: true } },
  { name: 'NO_COLOR is obeyed', stream: terminal, env: { NO_COLOR: '1' }, look: { width: 120, colour: false } },
  {
    name: 'an empty NO_COLOR says nothing',
    stream: terminal,
    env: { NO_COLOR: '' },
    look: { width: 120, colour: true },
  },
  {
    name: 'a dumb terminal has no colour',
    stream: terminal,
    env: { TERM: 'dumb' },
    look: { width: 120, colour: false },
  },
  { name: 'what is no terminal gets whole lines', stream: { columns: 80 }, env: {}, look: plainLook },
])('$name', ({ stream, env, look }) => {
  expect(lookOf(stream, env)).toEqual(look);
});
