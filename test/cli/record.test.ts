import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'record-options-'));
const existing = join(folder, 'existing.jsonl');
writeFileSync(existing, '{}\n');
afterAll(() => rmSync(folder, { recursive: true }));

const refused: readonly { args: readonly string[]; message: string }[] = [
  { args: [], message: "missing required argument 'file'" },
  { args: ['x', '--endpoint', 'https://x'], message: 'expected an http:// URL, perhaps with a path prefix.' },
  { args: [existing], message: 'exists and is not overwritten: name a new file, or remove this one.' },
  { args: [join(folder, 'no', 'such')], message: 'create it, or name a file in another one.' },
];

test.for(refused)('record $args is refused with what to do', async ({ args, message }) => {
  const printed: string[] = [];
  const program = createProgram({ env: {}, stop: AbortSignal.abort(), print: (text) => void printed.push(text) });
  await expect(program.parseAsync(['record', ...args], { from: 'user' })).rejects.toThrow(message);
  expect(printed).toEqual([]);
});
