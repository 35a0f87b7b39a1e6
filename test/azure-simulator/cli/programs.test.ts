import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bridgeProgram, commandFor, type ProgramName } from '../../../src/azure-simulator/cli/programs.ts';

const installed = join('/opt', 'scheduled-events-simulator', 'scheduled-events-simulator.cjs');

test.for<{ program: ProgramName; entry: string; command: string }>([
  {
    program: 'scheduled-events-bridge',
    entry: join('/clone', 'src', 'azure-simulator', 'main.ts'),
    command: 'npm start --',
  },
  {
    program: 'scheduled-events-bridge',
    entry: join('/clone', 'dist', 'scheduled-events-simulator.cjs'),
    command: `node ${join('dist', 'scheduled-events-bridge.cjs')}`,
  },
  {
    program: 'scheduled-events-simulator',
    entry: join('/clone', 'dist', 'scheduled-events-simulator.cjs'),
    command: `node ${join('dist', 'scheduled-events-simulator.cjs')}`,
  },
  {
    program: 'scheduled-events-bridge',
    entry: join('/project', 'node_modules', '.bin', 'scheduled-events-simulator'),
    command: 'npx scheduled-events-bridge',
  },
  { program: 'scheduled-events-simulator', entry: installed, command: 'scheduled-events-simulator' },
])('$program is started with $command when the simulator runs as $entry', ({ program, entry, command }) => {
  expect(commandFor(program, entry, '/clone')).toBe(command);
});

test('the bridge of a clone is its sources', () => {
  expect(bridgeProgram(join('/clone', 'src', 'azure-simulator', 'main.ts'))).toBe(join('/clone', 'src', 'main.ts'));
});
