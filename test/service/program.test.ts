import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/service/program.ts';

test('a program runs in its own session, where Ctrl-C of a terminal does not reach it', async () => {
  const { out } = await runProgram('sh', ['-c', 'cat /proc/$$/stat'], { env: process.env, timeoutMs: 5_000 });
  const session = (stat: string) => stat.slice(stat.lastIndexOf(')')).split(' ')[4];
  expect(session(out)).not.toBe(session(readFileSync('/proc/self/stat', 'utf8')));
  expect(session(out)).toBe(out.split(' ')[0]);
});

const endings = [
  { name: 'does not exist', args: ['/no/such/program'], failed: 'ENOENT' },
  { name: 'takes too long', args: ['sleep', '60'], failed: 'ETIMEDOUT' },
  // Node throws for it, as on Windows for one that is damaged, or that App Control or a virus scanner blocks.
  { name: 'the system refuses', args: ['true', 'x'.repeat(2 ** 18)], failed: 'E2BIG' },
];

test.each(endings)('a program that $name is reported so', async ({ args: [name = '', ...args], failed }) => {
  expect(await runProgram(name, args, { env: process.env, timeoutMs: 50 })).toMatchObject({ code: null, failed });
});
