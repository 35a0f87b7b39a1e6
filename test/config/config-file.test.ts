import { expect, test } from 'vitest';
import { load, stdout } from './load.ts';

test.for([
  ['{ "log": { "level": x } }', 'syntax error at line 1, column 21'],
  ['{\n  "log": { "level": "info" },\n}', 'syntax error at line 3, column 1'],
  ['{ "log": { "level": "info" }', 'it ends too early; is a closing } or ] or a quotation mark missing?'],
  ['{ "log": "in', 'it ends too early; is a closing } or ] or a quotation mark missing?'],
  ['{} {}', 'syntax error at line 1, column 4'],
  ['{\n  // mine\n}', 'a comment at line 2, column 3; JSON has none, write it as "$comment": "…" instead'],
  ['{ /* mine */ }', 'a comment at line 1, column 3; JSON has none, write it as "$comment": "…" instead'],
  ['', 'it is empty; expected at least {}'],
])('a file that is not JSON is refused with the position of the error: %s', ([content, where]) => {
  expect(load(content).problems).toEqual([`FILE is not JSON: ${where}.`]);
});

test('a byte order mark is ignored', () => {
  expect(load(`\uFEFF${JSON.stringify(stdout)}`).config).toBeDefined();
});
