import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/source-tree.ts';
import { type Control, controls, patched } from './controls.ts';
import { faultTests } from './tests.ts';

test('every negative control names a test, and a place that the code has once', () => {
  const ids = faultTests.map(({ id }) => id);
  for (const control of controls) {
    expect(ids).toContain(control.test);
    const text = readFileSync(join(root, control.file), 'utf8');
    expect(patched(text, control)).not.toBe(text);
  }
});

test.for([
  ['a b c', 0],
  ['x x', 2],
] as const)('a control whose place is in "%s" %i times is refused', ([text, count]) => {
  const control: Control = { id: 'one', title: '', test: '', file: 'src/a.ts', find: 'x', replace: 'y' };
  expect(() => patched(text, control)).toThrow(`the control one finds its place ${count} times in src/a.ts`);
});
