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
  const project = evaluateFile(createProject(textOf, null), path, {});
  for (const vms of [1, 4000, 4001])
    expect(project.call('bridgeConfiguration', [settings, choice, vms])).toEqual(
      bridgeConfiguration(settings, choice, vms),
    );
});

const platform = { rings: [], versions: [], regions: [], targets: ['linux-x64'], settings };
const fleetOf = (platforms: readonly object[]) =>
  evaluateFile(createProject(textOf, null), 'infra/fleet.bicep', { platforms, userInitiatedEvents: 'acceptDelay' });

test('a fleet spreads the connections of platforms with more than 4,000 VMs', () => {
  const fleet = fleetOf([
    { ...platform, name: 'unknown' },
    { ...platform, name: 'small', vms: 4000 },
    { ...platform, name: 'large', vms: 4001 },
  ]);
  const configurations = fleet.output('configurations') as Readonly<Record<string, string>>;
  const jitters = Object.entries(configurations).map(([name, json]) => [
    name,
    JSON.parse(json).sinks.eventHubs.connectJitterSeconds,
  ]);
  expect(jitters).toEqual([
    ['unknown', undefined],
    ['small', undefined],
    ['large', 60],
  ]);
});

// Four fifths of 12,000 requests a minute: https://learn.microsoft.com/azure/azure-monitor/fundamentals/service-limits#logs-ingestion-api
test.each([
  { vms: 9600, platforms: null },
  { vms: 9601, platforms: 2 },
  { vms: 19_200, platforms: 2 },
  { vms: 19_201, platforms: 3 },
  { vms: 100_000, platforms: 11 },
])('a platform of $vms VMs is to be divided into $platforms', ({ vms, platforms }) => {
  const lines = fleetOf([
    { ...platform, name: 'europe', vms },
    { ...platform, name: 'unknown' },
  ]).output('platformsToDivide') as readonly string[];
  if (platforms === null) expect(lines).toEqual([]);
  else {
    expect(lines).toEqual([expect.stringContaining(`Platform europe has up to ${vms} VMs.`)]);
    expect(lines[0]).toContain(`among ${platforms} platforms`);
  }
});
