import { expect, test } from 'vitest';
import { createProgram } from '../../../src/azure-simulator/cli/program.ts';

const run = (...args: string[]): Promise<unknown> =>
  createProgram({ env: {}, stop: new AbortController().signal, print: () => {} }).parseAsync(['demo', ...args], {
    from: 'user',
  });

test.for(['1', '501', '20.5', 'many', ''])('a fleet of "%s" is refused', async (size) => {
  await expect(run('--fleet', size)).rejects.toThrow(/expected a whole number from 2 to 500\./);
});

test.for<[string[], RegExp]>([
  [['--web', 'x'], /expected a port, 0 to 65535\./],
  [['--web', '70000'], /expected a port, 0 to 65535\./],
  [['--web', '--speed', '0.5'], /expected a number from 1 to 100000\./],
  [['--web', '--speed', ''], /expected a number from 1 to 100000\./],
  [['--speed', '2'], /--speed needs --web\./],
  [['--web', '--fleet', '20'], /'--web \[port\]' cannot be used with option '--fleet <vms>'/],
])('demo %j is refused', async ([args, message]) => {
  await expect(run(...args)).rejects.toThrow(message);
});

test('the help of demo mentions the fleet, but not the internal options', () => {
  const program = createProgram({ env: {}, stop: new AbortController().signal, print: () => {} });
  const help = program.commands.find((command) => command.name() === 'demo')?.helpInformation();
  expect(help).toContain('--fleet <vms>');
  expect(help).not.toContain('--fleet-part');
});
