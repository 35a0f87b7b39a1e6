import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/cli/exit-codes.ts';
import { confirmed } from '../../../src/cli/outbox/confirm.ts';

const never = new AbortController().signal;

function terminal(answer: string | null) {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = new PassThrough();
  if (answer !== null) input.write(`${answer}\n`);
  return { input, output };
}

test.for([
  ['y', true],
  ['Yes ', true],
  ['n', false],
  ['', false],
  ['yes please', false],
] as const)('the answer "%s" is a yes: %s', async ([answer, expected]) => {
  const { input, output } = terminal(answer);
  expect(await confirmed('3 records will be lost.', { input, output }, never)).toBe(expected);
  expect(String(output.read())).toContain('3 records will be lost. Continue? [y/N] ');
});

test('an abort while asking is no confirmation', async () => {
  const stop = new AbortController();
  const asking = confirmed('All of it.', terminal(null), stop.signal);
  stop.abort();
  expect(await asking).toBe(false);
});

test('without a terminal it fails', async () => {
  const { input, output } = terminal('y');
  const asking = confirmed('All of it.', { input: Object.assign(input, { isTTY: false }), output }, never);
  await expect(asking).rejects.toThrow(Failure);
  await expect(asking).rejects.toThrow('No terminal to confirm on; pass --yes.');
});
