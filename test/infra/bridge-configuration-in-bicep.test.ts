import { expect, test } from 'vitest';
import {
  type BridgeSettings,
  bridgeConfiguration,
  settingNames,
  userInitiatedEvents,
} from '../../infra/bridge-configuration.ts';
import { evaluateFile } from '../tools/bicep/evaluate.ts';
import { textOf } from '../tools/bicep/files.ts';
import { createProject } from '../tools/bicep/project.ts';
import { readFile } from '../tools/bicep/read-file.ts';
import { declared } from '../tools/bicep/syntax.ts';

const path = 'bicep/types.bicep';
const types = readFile(path, textOf(path) ?? '');
const settings = Object.fromEntries(settingNames.map((name) => [name, `<${name}>`])) as BridgeSettings;

test('the settings of a bridge are the same in Bicep and in the command that turns them into a configuration', () => {
  const type = declared(types, 'type').find(({ name }) => name === 'bridgeSettingsType')?.type;
  expect(type?.kind === 'object' && type.members.map(({ name }) => name)).toEqual([...settingNames]);
  const choices = declared(types, 'type').find(({ name }) => name === 'userInitiatedEventsType')?.type;
  const values = choices?.kind === 'union' ? choices.of.map((one) => one.kind === 'literal' && one.value) : [];
  expect(values).toEqual([...userInitiatedEvents]);
});

test.for(userInitiatedEvents)('the fleet gets the same configuration as the command prints, with %s', (choice) => {
  const inBicep = evaluateFile(createProject(textOf, null), path, {}).call('bridgeConfiguration', [settings, choice]);
  expect(inBicep).toEqual(bridgeConfiguration(settings, choice));
});
