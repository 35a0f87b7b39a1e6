import { expect, test } from 'vitest';
import { load, stdout } from './load.ts';

test.for([
  [
    '{ "log": { "level": x } }',
    'a word without quotation marks at line 1, column 21; only true, false, null and numbers have none',
  ],
  ['{ log: {} }', 'a word without quotation marks at line 1, column 3; only true, false, null and numbers have none'],
  ['{\n  "log": { "level": "info" },\n}', 'a comma before the closing bracket at line 3, column 1; remove the comma'],
  ['{ "a": [1, ] }', 'a comma before the closing bracket at line 1, column 12; remove the comma'],
  ['{\n  "a": 1\n  "b": 2\n}', 'a missing comma at line 3, column 3; add it before this place'],
  ['{ "a": "x" "b": 2 }', 'a missing comma at line 1, column 12; add it before this place'],
  ['{ "a": [{} {}] }', 'a missing comma at line 1, column 12; add it before this place'],
  ['{ "a" "x" }', 'a missing colon at line 1, column 7; add it before this place'],
  ["{ 'log': {} }", 'another quotation mark than " at line 1, column 3; JSON takes only this one'],
  ['{ “log”: {} }', 'another quotation mark than " at line 1, column 3; JSON takes only this one'],
  ['{ "stateDirectory": "C:\\state" }', 'a single backslash at line 1, column 25; write two of them'],
  ['{ "log": "in\n}', 'a line break or tab in a text at line 1, column 13; a quotation mark may be missing'],
  ['{\n\uFEFF}', 'a byte order mark at line 2, column 1; remove it'],
  [
    '\uFFFD\uFFFD{\0}\0',
    'it is not UTF-8 but perhaps UTF-16, which > and Out-File of Windows PowerShell write; save it as UTF-8 (Notepad: Save as, PowerShell: Set-Content -Encoding UTF8)',
  ],
  ['{ "a" = 1 }', 'syntax error at line 1, column 7'],
  ['{\n  # mine\n}', 'a comment at line 2, column 3; JSON has none, write it as "$comment": "…" instead'],
  ['{ "log": { "level": "info" }', 'it ends too early; a closing } or ] or a quotation mark is missing'],
  ['{ "log": "in', 'it ends too early; a closing } or ] or a quotation mark is missing'],
  ['{} {}', 'text after the end at line 1, column 4; remove it, or a closing bracket before it'],
  ['{}\n}', 'text after the end at line 2, column 1; remove it, or a closing bracket before it'],
  ['{\n  // mine\n}', 'a comment at line 2, column 3; JSON has none, write it as "$comment": "…" instead'],
  ['{ /* mine */ }', 'a comment at line 1, column 3; JSON has none, write it as "$comment": "…" instead'],
  ['', 'it is empty; expected at least {}'],
])('a file that is not JSON is refused with the position of the error: %s', ([content, where]) => {
  expect(load(content).problems).toEqual([`FILE is not JSON: ${where}.`]);
});

test.each(['utf-16le', 'utf-16be'])(
  'a file in %s, as Windows PowerShell writes it, is refused with how to save it',
  (encoding) => {
    const bytes = Buffer.from(`\uFEFF${JSON.stringify(stdout)}`, 'utf16le');
    const [problem] = load(encoding === 'utf-16le' ? bytes : bytes.swap16()).problems ?? [];
    expect(problem).toMatch(/^FILE is not JSON: .* perhaps UTF-16, .*Set-Content -Encoding UTF8/);
  },
);

test('a byte order mark is ignored', () => {
  expect(load(`\uFEFF${JSON.stringify(stdout)}`).config).toBeDefined();
});

test.for([
  ['{ "sinks": { "stdout": {} },\n "sinks": { "stdout": {} } }', 'sinks', 'line 2, column 2'],
  ['{ "sinks": { "stdout": {},\n  "stdout": {} } }', 'sinks.stdout', 'line 2, column 3'],
  [
    '{ "sinks": { "stdout": {} }, "log": { "level": "info", "lev\\u0065l": "warn" } }',
    'log.level',
    'line 1, column 56',
  ],
])('a key that is set twice is refused, as JSON would take the last one: %s', ([content, key, place]) => {
  expect(load(content).problems).toEqual([`${key} is set twice in FILE, again at ${place}: keep one of the two.`]);
});

test('a key may occur in several objects, inside a string, and any number of times as a comment', () => {
  const sinks = '"sinks": { "$comment": "a", "$comment": "\\"sinks\\": {", "stdout": { } }';
  const observer = '"observer": { "tags": ["sinks", "sinks"] }';
  expect(load(`{ "$comment": ["x", "x"], ${sinks}, ${observer} }`).problems).toBeUndefined();
});

test.skipIf(process.platform === 'win32')(
  'a file that every user can change is refused, and nothing else is said about it',
  () => {
    expect(load({ sinks: { stdoutt: {} } }, { mode: 0o646 }).problems).toEqual([
      'Every user can change FILE, and with it where records go and what is approved: expected a file that only its owner can change (chmod o-w FILE).',
    ]);
  },
);
