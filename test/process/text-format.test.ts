import { expect, test } from 'vitest';
import { formatFor, plainFormat } from '../../src/process/text-format.ts';

const terminal = { isTTY: true, columns: 120 };

test.for([
  { name: 'a terminal has its width and colour', stream: terminal, env: {}, format: { width: 120, colour: true } },
  { name: 'NO_COLOR is obeyed', stream: terminal, env: { NO_COLOR: '1' }, format: { width: 120, colour: false } },
  {
    name: 'an empty NO_COLOR is ignored',
    stream: terminal,
    env: { NO_COLOR: '' },
    format: { width: 120, colour: true },
  },
  {
    name: 'a dumb terminal has no colour',
    stream: terminal,
    env: { TERM: 'dumb' },
    format: { width: 120, colour: false },
  },
  { name: 'output that is no terminal gets entire lines', stream: { columns: 80 }, env: {}, format: plainFormat },
])('$name', ({ stream, env, format }) => {
  expect(formatFor(stream, env)).toEqual(format);
});
