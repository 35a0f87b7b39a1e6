import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventSourceCalls, readDefinition, scCalls } from '../../../src/service/windows/definition.ts';
import { root } from '../../support/source-tree.ts';

const text = readFileSync(join(root, 'infra/windows/windows-service.json'), 'utf8');
const definition = readDefinition(text, 'windows-service.json');
const program = 'C:\\Program Files\\scheduled-events-bridge\\versions\\1.0.0\\scheduled-events-bridge-service.exe';

test('sc.exe creates the service with a quoted path, a virtual account, and not started with the machine', () => {
  expect(scCalls.create(definition, program)).toEqual([
    'create',
    'scheduled-events-bridge',
    'type=',
    'own',
    'start=',
    'demand',
    'error=',
    'normal',
    'binPath=',
    `"${program}"`,
    'obj=',
    'NT SERVICE\\scheduled-events-bridge',
    'DisplayName=',
    'Scheduled Events bridge',
  ]);
});

test('a change of the definition leaves image path and start type alone', () => {
  const args = scCalls.change(definition);
  expect(args[0]).toBe('config');
  for (const name of ['binPath=', 'start=']) expect(args).not.toContain(name);
});

// https://learn.microsoft.com/windows-server/administration/windows-commands/sc-failure: actions and delays in ms, separated by slashes.
test('the rest of the definition: description, what happens after a failure, the identifier of the service', () => {
  expect(scCalls.describe(definition)).toEqual([
    ['description', 'scheduled-events-bridge', expect.stringContaining('Scheduled Events')],
    [
      ...['failure', 'scheduled-events-bridge', 'reset=', '86400'],
      ...['actions=', 'restart/5000/restart/30000/restart/60000'],
    ],
    ['sidtype', 'scheduled-events-bridge', 'unrestricted'],
  ]);
});

test('versions are switched by the image path alone', () => {
  expect(scCalls.image(program)).toEqual(['config', 'scheduled-events-bridge', 'binPath=', `"${program}"`]);
});

test('the source of the event log names the program, whose messages are in it', () => {
  const [messages, types] = eventSourceCalls.register(program);
  expect(messages).toEqual([
    'add',
    'HKLM\\SYSTEM\\CurrentControlSet\\Services\\EventLog\\Application\\scheduled-events-bridge',
    ...['/v', 'EventMessageFile', '/t', 'REG_EXPAND_SZ', '/d', program, '/f', '/reg:64'],
  ]);
  expect(types).toContain('TypesSupported');
});

test.each([
  ['no JSON', '{', 'does not define the service'],
  ['nothing', 'null', 'it has no displayName, description, account, sidType'],
  ['no account', JSON.stringify({ ...definition, account: undefined }), 'it has no account'],
  ['no delays', JSON.stringify({ ...definition, failure: { resetAfterSeconds: 1 } }), 'after a failure'],
])('a definition with %s is refused', (_, content, message) => {
  expect(() => readDefinition(content, 'x.json')).toThrow(message);
});
