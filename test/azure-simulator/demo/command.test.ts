import { expect, test } from 'vitest';
import { createProgram } from '../../../src/azure-simulator/cli/program.ts';

const run = (...args: string[]): Promise<unknown> =>
  createProgram({ env: {}, stop: new AbortController().signal, print: () => {} }).parseAsync(['demo', ...args], {
    from: 'user',
  });

test.for(['1', '501', '20.5', 'many', ''])('a fleet of "%s" is refused', async (size) => {
  await expect(run('--fleet', size)).rejects.toThrow(/expected a whole number from 2 to 500\./);
});

test('the help of demo mentions the fleet, but not the internal options', () => {
  const program = createProgram({ env: {}, stop: new AbortController().signal, print: () => {} });
  const help = program.commands.find((command) => command.name() === 'demo')?.helpInformation();
  expect(help).toContain('--fleet <vms>');
  expect(help).not.toContain('--fleet-part');
});
