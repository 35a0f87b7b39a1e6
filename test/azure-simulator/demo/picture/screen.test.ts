import { expect, test } from 'vitest';
import { piece } from '../../../../src/azure-simulator/demo/picture/ink.ts';
import { createScreen } from '../../../../src/azure-simulator/demo/picture/screen.ts';

const esc = String.fromCharCode(27);

function opened() {
  const written: string[] = [];
  const screen = createScreen((text) => written.push(text), false);
  return { written, screen };
}

test('a frame is one write, and the next one is drawn over it', () => {
  const { written, screen } = opened();
  screen.draw([[piece('one')], [piece('two')]]);
  screen.draw([[piece('1')], [piece('2')]]);
  expect(written).toEqual([
    `${esc}[?25l\rone${esc}[K\ntwo${esc}[K\n${esc}[J`,
    `${esc}[2A\r1${esc}[K\n2${esc}[K\n${esc}[J`,
  ]);
});

test('the cursor is given back once, and nothing is drawn afterwards', () => {
  const { written, screen } = opened();
  screen.draw([[piece('one')]]);
  screen.close();
  screen.close();
  screen.draw([[piece('two')]]);
  expect(written.slice(1)).toEqual([`${esc}[?25h`]);
});

test('a screen that was never drawn on is left alone', () => {
  const { written, screen } = opened();
  screen.close();
  expect(written).toEqual([]);
});
