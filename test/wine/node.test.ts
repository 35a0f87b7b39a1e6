import { expect, test } from 'vitest';
import { version } from '../../src/process/version.ts';
import { mainFile } from '../support/program.ts';
import { nodeProgram, openWindows, whyNoWine } from './windows-machine.ts';

test.skipIf(whyNoWine !== '')(`the bridge runs on the Node.js of its Windows package${whyNoWine}`, async () => {
  await using machine = await openWindows();
  const node = machine.place(await nodeProgram(), 'C:\\Program Files\\node\\node.exe');
  const bridge = machine.place(mainFile, 'C:\\Program Files\\node\\bridge.cjs');
  expect(await machine.ok(node, ['-p', 'process.platform'])).toBe('win32\n');
  expect(await machine.ok(node, [bridge, 'version'])).toContain(version);
});
