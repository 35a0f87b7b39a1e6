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

test('lines that stay are printed above the frame, which is drawn again below them', () => {
  const { written, screen } = opened();
  screen.draw([[span('one')], [span('two')]]);
  screen.printAbove([[span('news')]]);
  expect(written.slice(1)).toEqual([`${esc}[2A\rnews${esc}[K\none${esc}[K\ntwo${esc}[K\n${esc}[J`]);
});

test('a terminal that became narrower has wrapped the rows that are drawn over', () => {
  const written: string[] = [];
  let columns = 80;
  const screen = createScreen(
    (text) => written.push(text),
    false,
    () => columns,
  );
  screen.draw([[span('x'.repeat(50))], [span('two')]]);
  columns = 20;
  screen.draw([[span('one')]]);
  expect(written[1]).toMatch(new RegExp(`^${esc}\\[4A`));
});

test('erasing removes the frame and shows the cursor, and later lines are still printed', () => {
  const { written, screen } = opened();
  screen.draw([[span('one')]]);
  screen.erase();
  screen.erase();
  screen.printAbove([[span('news')]]);
  expect(written.slice(1)).toEqual([`${esc}[1A\r${esc}[J${esc}[?25h`, `news${esc}[K\n`]);
});
