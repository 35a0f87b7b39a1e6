import { expect, test } from 'vitest';
import { createDisplay, type Terminal } from '../../../src/azure-simulator/demo/display.ts';
import { span } from '../../../src/terminal/styled-text.ts';

const esc = String.fromCharCode(27);

/** What is printed of a line, two pictures in a row and a last word. */
function printed(terminal: Terminal, env: NodeJS.ProcessEnv = {}): string {
  let out = '';
  const display = createDisplay(terminal, { print: (text) => (out += text), env }, () => 20);
  display.line('a line');
  display.line(null);
  display.draw((columns) => [[span(`first of ${columns}`, 'ended')]]);
  display.draw((columns) => [[span(`second of ${columns}`, 'ended')]]);
  display.close();
  display.close();
  display.print([[span('done', 'strong')]]);
  return out;
}

const terminal = { isTTY: true, columns: 90, rows: 24 };

test.for<{ name: string; terminal: Terminal; env?: NodeJS.ProcessEnv }>([
  { name: 'a pipe is shown lines', terminal: {} },
  { name: 'a dumb terminal is shown lines', terminal, env: { TERM: 'dumb' } },
])('$name', ({ terminal, env }) => {
  expect(printed(terminal, env)).toBe('a line\ndone\n');
});

test.for<{ name: string; terminal: Terminal }>([
  { name: 'a terminal that is too narrow is shown lines', terminal: { ...terminal, columns: 79 } },
  { name: 'a terminal that is too low is shown lines', terminal: { ...terminal, rows: 20 } },
])('$name', ({ terminal }) => {
  expect(printed(terminal)).toBe(`a line\n${esc}[1mdone${esc}[0m\n`);
});

test('a terminal is shown the picture, the newest one last, and no lines', () => {
  const out = printed(terminal);
  expect(out).not.toContain('a line');
  expect(out).toContain(`${esc}[32mfirst of 90${esc}[0m`);
  expect(out.endsWith(`second of 90${esc}[0m${esc}[K\n${esc}[J${esc}[?25h${esc}[1mdone${esc}[0m\n`)).toBe(true);
});

test('NO_COLOR keeps the picture and takes the colour', () => {
  const out = printed(terminal, { NO_COLOR: '1' });
  expect(out).toContain('second of 90');
  expect(out.replaceAll(`${esc}[`, '<')).not.toMatch(/<\d*m/);
});
