import { expect, test } from 'vitest';
import { createScreen } from '../../src/terminal/screen.ts';
import { span } from '../../src/terminal/styled-text.ts';

const esc = String.fromCharCode(27);

function opened() {
  const written: string[] = [];
  const screen = createScreen((text) => written.push(text), false);
  return { written, screen };
}

test('a frame is one write, drawn over the one before', () => {
  const { written, screen } = opened();
  screen.draw([[span('one')], [span('two')]]);
  screen.draw([[span('1')], [span('2')]]);
  expect(written).toEqual([
    `${esc}[?25l\rone${esc}[K\ntwo${esc}[K\n${esc}[J`,
    `${esc}[2A\r1${esc}[K\n2${esc}[K\n${esc}[J`,
  ]);
});

test('closing shows the cursor once, and nothing is drawn afterwards', () => {
  const { written, screen } = opened();
  screen.draw([[span('one')]]);
  screen.close();
  screen.close();
  screen.draw([[span('two')]]);
  expect(written.slice(1)).toEqual([`${esc}[?25h`]);
});

test('closing a screen that was never drawn on writes nothing', () => {
  const { written, screen } = opened();
  screen.close();
  expect(written).toEqual([]);
});
