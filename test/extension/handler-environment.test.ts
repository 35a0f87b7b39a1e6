import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import { environmentIn, readHandlerEnvironment } from '../../src/extension/handler-environment.ts';
import { refusalOf } from '../service/harness.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';

/** As an agent of Windows writes it, with what Linux does not have. */
const windows = {
  name: 'Contoso.Bridge.ScheduledEventsBridge',
  version: 1.0,
  handlerEnvironment: {
    logFolder: 'C:\\WindowsAzure\\Logs\\Plugins\\Contoso.Bridge.ScheduledEventsBridge\\1.0.0',
    configFolder: 'C:\\Packages\\Plugins\\Contoso.Bridge.ScheduledEventsBridge\\1.0.0\\RuntimeSettings',
    statusFolder: 'C:\\Packages\\Plugins\\Contoso.Bridge.ScheduledEventsBridge\\1.0.0\\status',
    heartbeatFile: 'C:\\Packages\\Plugins\\Contoso.Bridge.ScheduledEventsBridge\\1.0.0\\status\\HeartBeat.Json',
    deploymentid: '',
    rolename: '',
    instance: '',
    hostResolverAddress: '168.63.129.16',
  },
};
const { logFolder, configFolder, statusFolder } = windows.handlerEnvironment;
const folders = { logFolder, configFolder, statusFolder };

test.for([
  { name: 'a list of one', text: JSON.stringify([windows]) },
  { name: 'one object', text: JSON.stringify(windows) },
  { name: 'with a byte order mark', text: `\uFEFF${JSON.stringify([windows])}` },
])('HandlerEnvironment.json names the folders: $name', ({ text }) => {
  expect(environmentIn(text)).toEqual(folders);
});

test.for([
  { text: '[]', message: 'it has no handlerEnvironment' },
  { text: '[{"handlerEnvironment":{"logFolder":"/l","configFolder":""}}]', message: 'it names no configFolder' },
  { text: '[{', message: /JSON/ },
])('HandlerEnvironment.json that holds $text is refused', ({ text, message }) => {
  expect(() => environmentIn(text)).toThrow(message);
});

/** Does something before it lets time pass. */
const clockThat = (work: () => void): Clock => ({
  now: () => new Date(),
  monotonicMs: () => 0,
  sleep: async () => work(),
});

test.for(['beside the handler', 'one level up', 'written while it is read'])('it is found %s', async (where) => {
  using directory = temporaryDirectory('environment');
  const folder = join(directory.path, 'Contoso.Bridge', '1.0.0');
  mkdirSync(folder, { recursive: true });
  const file = join(where === 'one level up' ? join(folder, '..') : folder, 'HandlerEnvironment.json');
  const whole = JSON.stringify([windows]);
  writeFileSync(file, where.startsWith('written') ? whole.slice(0, 40) : whole);
  expect(
    await readHandlerEnvironment(
      folder,
      clockThat(() => writeFileSync(file, whole)),
    ),
  ).toEqual(folders);
  expect(readFileSync(file, 'utf8')).toBe(whole);
});

test('without it, the message says who can run the command', async () => {
  using directory = temporaryDirectory('environment');
  let pauses = 0;
  const clock = clockThat(() => {
    pauses += 1;
  });
  const { reason, message } = await refusalOf(readHandlerEnvironment(directory.path, clock));
  expect([reason, message]).toEqual([
    'missing',
    expect.stringMatching(/Only the Azure guest agent can run this command/),
  ]);
  expect(pauses).toBe(4);
});
