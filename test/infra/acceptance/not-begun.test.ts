import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testDirectory } from '../../support/test-directory.ts';
import { startCommand } from './command.ts';
import { createFakeAzure } from './fake-azure.ts';

const begin = ['--subscription', 'Contoso test', '--location', 'westeurope', '--folder'];

/** In the order in which a run makes them. */
const calls = ['account show', 'rest', 'version', 'bicep version'];

test.for(calls)('a run without a network at its call of %s says so in one line, and has no journal', async (call) => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  azure.refuse(call, 'Please ensure you have network connection. Error detail: Max retries exceeded');
  const command = startCommand([...begin, folder], { azure });
  expect([await command.ended, readdirSync(folder)]).toEqual([3, []]);
  expect(command.errors()).toMatch(/^[^\n]*ensure you have network connection[^\n]*\n$/);
});

test.for(['account show', 'rest', 'version'])(
  'a run whose call of %s prints nothing says so in one line',
  async (call) => {
    const azure = createFakeAzure();
    const answering = {
      ...azure,
      call: async (args: readonly string[]) => (args.join(' ').startsWith(call) ? undefined : await azure.call(args)),
    };
    const command = startCommand([...begin, testDirectory('acceptance')], { azure: answering });
    expect(await command.ended).toBe(3);
    expect(command.errors()).toMatch(/^The run could not begin, and has created nothing: [^\n]*\.\n$/);
  },
);

test.for(calls)('Ctrl-C at the call of %s ends it, with nothing created', async (call) => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  const answering = {
    ...azure,
    async call(args: readonly string[], { signal }: { signal?: AbortSignal } = {}) {
      if (args.join(' ').startsWith(call)) {
        // The first call is made before the command is returned.
        await Promise.resolve();
        command.send('SIGINT');
        signal?.throwIfAborted();
      }
      return await azure.call(args);
    },
  };
  const command = startCommand([...begin, folder], { azure: answering });
  expect([await command.ended, command.errors(), readdirSync(folder)]).toEqual([130, '', []]);
  expect(command.printed()).toContain('Ended before anything was created.');
});

test('a folder that cannot be written is named', async () => {
  const file = join(testDirectory('acceptance'), 'a-file');
  writeFileSync(file, '');
  const command = startCommand([...begin, file], { azure: createFakeAzure() });
  expect(await command.ended).toBe(3);
  expect(command.errors()).toMatch(/^The run could not begin, and has created nothing: [^\n]*a-file[^\n]*\n$/);
});
