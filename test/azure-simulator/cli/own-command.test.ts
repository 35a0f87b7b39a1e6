import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownCommand } from '../../../src/azure-simulator/cli/own-command.ts';

test.for([
  { entry: join('/clone', 'src', 'main.ts'), command: 'npm start --' },
  {
    entry: join('/clone', 'dist', 'scheduled-events-bridge.cjs'),
    command: `node ${join('dist', 'scheduled-events-bridge.cjs')}`,
  },
  {
    entry: join('/opt', 'scheduled-events-bridge', 'current', 'scheduled-events-bridge.cjs'),
    command: 'scheduled-events-bridge',
  },
])('started with $entry the program is started again with $command', ({ entry, command }) => {
  expect(ownCommand(entry, '/clone')).toBe(command);
});
