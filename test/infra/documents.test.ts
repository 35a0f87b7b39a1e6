import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reportFiles } from '../../infra/acceptance/write-report.ts';
import { bridgeConfiguration, settingNames, userInitiatedEvents } from '../../infra/bridge-configuration.ts';
import { assumptions, estimate, prices, valuesOf } from '../../infra/costs-model.ts';
import { measureSizes } from '../../infra/costs-sizes.ts';
import { contentsOf } from '../../infra/package/contents.ts';
import { disablingFile } from '../../src/approver/disabled.ts';
import { options } from '../../src/config.ts';
import * as consumer from '../../src/consumer/index.ts';
import { monitorAudience } from '../../src/sinks/log-analytics/clouds.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { root } from '../support/source-tree.ts';
import { bicepFiles, textOf } from '../tools/bicep/files.ts';
import { readFile } from '../tools/bicep/read-file.ts';
import { type BicepFile, declared, plainText, type TypeSyntax } from '../tools/bicep/syntax.ts';
import { moment, smallProgram, smallRuntime } from './package/harness.ts';
import { allDocuments, inBackticks, rows, section, withoutBlocks } from './read-documents.ts';

const files = new Map(bicepFiles().map((path) => [path, readFile(path, textOf(path) ?? '')]));

function fileAt(path: string): BicepFile {
  const file = files.get(path);
  if (!file) throw new Error(`${path} is not there`);
  return file;
}

/** Files that the reader makes. */
const made = ['config.json', 'outputs.json', ...Object.values(reportFiles)];
/** Files that the reader unpacks. */
const packed = (['linux-x64', 'win-x64'] as const).flatMap((platform) =>
  contentsOf({
    platform,
    program: smallProgram,
    runtime: smallRuntime,
    serviceHost: Buffer.from('MZ'),
    at: moment,
    key: null,
  }).map(({ path }) => path),
);

test('every file that a document of infra/ names exists', () => {
  const named = inBackticks(withoutBlocks).filter((name) =>
    // What begins with a slash is on a machine.
    /^[\w.][\w./-]*(\.(bicep|bicepparam|ts|json|yaml|md|sh|cmd)|\/)$/.test(name),
  );
  const missing = named.filter(
    (name) =>
      !made.includes(name) &&
      !packed.includes(name) &&
      !['', 'infra', 'bicep/modules'].some((place) => existsSync(join(root, place, name))),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});

const deployments = [...allDocuments.matchAll(/^ *az deployment (sub|mg|group) create .*$/gm)].map(
  ([line = '', kind = '']) => ({
    line: line.trim(),
    kind,
  }),
);
const scopes: Readonly<Record<string, string>> = { sub: 'subscription', mg: 'managementGroup', group: 'resourceGroup' };

test('there are commands for platform, fleet and one VM', () => {
  expect(new Set(deployments.map(({ kind }) => kind))).toEqual(new Set(Object.keys(scopes)));
});

// https://github.com/Azure/bicep/releases/tag/v0.34.1: from then on a module needs no name.
test('the documents name the version of Bicep that modules without a name need', () => {
  const unnamed = [...files.values()].flatMap((file) => declared(file, 'module')).length;
  expect(unnamed).toBeGreaterThan(0);
  expect(section('Deploy').split('\n###')[0]).toContain('Bicep 0.34.1 or newer');
});

test.for(deployments)('the parameters in a command are those of its template: $line', ({ line, kind }) => {
  const [, path = ''] = /--parameters (\S+\.bicepparam)/.exec(line) ?? [];
  const [using] = declared(fileAt(path), 'using');
  const template = fileAt(`infra/${using?.path.replace('../', '')}`);
  expect(declared(template, 'targetScope')[0]?.scope ?? 'resourceGroup').toBe(scopes[kind]);
  const given = line.replace(/^.*?\.bicepparam/, '').match(/\w+(?==)/g) ?? [];
  const known = declared(template, 'param').map(({ name }) => name);
  expect(given.filter((name) => !known.includes(name))).toEqual([]);
  const assigned = [...declared(fileAt(path), 'assignment').map(({ name }) => name), ...given];
  const wanted = declared(template, 'param').filter(({ type, value }) => value === null && type.kind !== 'nullable');
  expect(wanted.map(({ name }) => name).filter((name) => !assigned.includes(name))).toEqual([]);
});

test.for([
  { heading: 'The platform', template: 'infra/main.bicep' },
  { heading: 'A fleet, ring by ring', template: 'infra/fleet.bicep' },
])('the outputs listed under "$heading" are those of $template', ({ heading, template }) => {
  const outputs = declared(fileAt(template), 'output').map(({ name }) => name);
  const documented = rows(section(heading))
    .map(([first = '']) => inBackticks(first))
    .filter((names) => names.some((name) => outputs.includes(name)))
    .flat();
  expect(documented.sort()).toEqual(outputs.sort());
});

function membersOf(type: TypeSyntax): string[] {
  if (type.kind === 'object') return type.members.flatMap((member) => [member.name, ...membersOf(member.type)]);
  if (type.kind === 'array' || type.kind === 'nullable') return membersOf(type.of);
  return [];
}

test('every name that a document of infra/ spells like a parameter, an output, an option or a figure is one', () => {
  const declarations = [...files.values()].flatMap((file) => [
    ...declared(file, 'param').map(({ name }) => name),
    ...declared(file, 'output').map(({ name }) => name),
    ...declared(file, 'type').flatMap(({ type }) => membersOf(type)),
  ]);
  /** Names of Azure, CloudEvents and Grafana, fields of `tail --json`, and a file. */
  const others = ['allowDeletionOfReplicatedLocations', 'applicationProfile', 'conflictEffect', 'galleryApplications']
    .concat('scheduledEventsPolicy', 'transformKql', 'userName', 'messageId', 'correlationId')
    .concat('isOpen', 'isPresumed', 'exportDefaultValue', 'viewPanel', 'major.minor', disablingFile);
  const known = new Set([
    ...declarations,
    ...options.flatMap(({ path }) => [path, path.replace(/\.[^.]+$/, ''), ...path.split('.')]),
    ...Object.keys({ ...assumptions, ...prices }),
    ...userInitiatedEvents,
    ...Object.keys(sampleRecord()),
    ...Object.keys(consumer),
    ...others,
  ]);
  const spelled = inBackticks(withoutBlocks).filter((name) =>
    /^[a-z]+([A-Z][a-z]*)+$|^[a-z]+(\.[a-zA-Z]+)+$/.test(name),
  );
  const isFile = (name: string) =>
    /\.(bicep|ts|jsonl?|md|sh|cmd|exe|log)$/.test(name) || /\.(net|us|cn|com)$/.test(name);
  expect(spelled.length).toBeGreaterThan(30);
  expect(spelled.filter((name) => !known.has(name) && !isFile(name))).toEqual([]);
});

test('the names of groups, tags and assignments in the commands are the defaults of the templates', () => {
  const defaultOf = (path: string, name: string) =>
    plainText(declared(fileAt(path), 'param').find((param) => param.name === name)?.value);
  expect(`rg-${defaultOf('infra/main.bicep', 'name')}`).toBe('rg-vm-lifecycle');
  expect(allDocuments).toContain('az group delete --name rg-vm-lifecycle\n');
  for (const tag of ['ringTag', 'optOutTag']) {
    expect(inBackticks(allDocuments)).toContain(defaultOf('infra/fleet.bicep', tag));
  }
  expect(textOf('bicep/modules/policy-assignment.bicep')).toContain(`name: 'seb-\${platformName}'`);
  expect(textOf('bicep/modules/policy-assignment.bicep')).toContain(`name: 'scheduled-events-bridge-\${platformName}'`);
});

test('every option for who approves user-initiated restarts is explained', () => {
  const answers = rows(section('Choose first: who approves user-initiated restarts')).map(([first = '']) => first);
  expect(answers).toEqual(userInitiatedEvents.map((answer) => `\`${answer}\``));
});

test('the configuration shown is what the command makes', () => {
  const keys = (value: unknown): unknown =>
    typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([key, below]) => [key, keys(below)]))
      : typeof value;
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(section('The configuration of the bridges')) ?? [];
  const settings = Object.fromEntries(settingNames.map((name) => [name, ''])) as Parameters<
    typeof bridgeConfiguration
  >[0];
  expect(keys(JSON.parse(json))).toEqual(keys(bridgeConfiguration(settings, 'bridgeApproves')));
});

test('the clouds in the table have the token audience that the bridge requests', () => {
  const clouds = rows(section('Network')).filter((cells) => cells.length === 4 && cells[3]?.startsWith('`https://'));
  expect(clouds.map(([name]) => name)).toEqual(['public', 'US Government', 'China']);
  for (const [, , host = '', audience] of clouds) {
    expect(`\`${monitorAudience(`x.region-1.${inBackticks(host)[0]}`)}\``).toBe(audience);
  }
});

test('the figures that costs assumes are the defaults of template and bridge', () => {
  const defaults = new Map(
    declared(fileAt('infra/main.bicep'), 'param').map(({ name, value }) => [
      name,
      value?.kind === 'number' ? value.value : null,
    ]),
  );
  expect(defaults.get('retentionDays')).toBe(assumptions.retentionDays.value);
  expect(defaults.get('totalRetentionDays')).toBe(assumptions.totalRetentionDays.value);
  const fallback = (path: string) => options.find((option) => option.path === path)?.fallback;
  expect(fallback('heartbeat.everyMinutes')).toBe(assumptions.heartbeatMinutes.value);
  expect(fallback('scope.witnessRate')).toBe(assumptions.witnessRate.value);
});

test('the parameter file for 100,000 VMs has the shards and units that costs estimates with', () => {
  const assigned = declared(fileAt('infra/params/hundred-thousand.bicepparam'), 'assignment');
  const assignedTo = (name: string) => assigned.find((one) => one.name === name)?.value;
  const shards = assignedTo('shards');
  const size = assignedTo('eventHubSize');
  const most =
    size?.kind === 'object' ? size.entries.find(({ key }) => key === 'maximumThroughputUnits')?.value : undefined;
  if (shards?.kind !== 'list' || most?.kind !== 'number') throw new Error('shards or units are not there');
  const needed = estimate(100_000, measureSizes(), [], valuesOf(assumptions), valuesOf(prices));
  expect(shards.items.length).toBeGreaterThanOrEqual(needed.shards);
  expect(shards.items.length * most.value).toBeGreaterThanOrEqual(needed.throughputUnits);
});

test('the access control profile names the paths that the bridge requests and the user that it runs as', () => {
  const [, json = ''] = /```json\n([\s\S]*?)```/.exec(section('Metadata Security Protocol')) ?? [];
  const { privileges, identities } = JSON.parse(json) as {
    privileges: readonly { path: string }[];
    identities: readonly { userName: string }[];
  };
  const asked = new Set(readFileSync(join(root, 'src/imds/client.ts'), 'utf8').match(/\/metadata\/[a-z]+/g));
  // Tokens are asked for by the SDK.
  expect(privileges.map(({ path }) => path).sort()).toEqual([...asked, '/metadata/identity/oauth2/token'].sort());
  const unit = readFileSync(join(root, 'infra/systemd/scheduled-events-bridge.service'), 'utf8');
  expect(unit).toContain(`\nUser=${identities[0]?.userName}\n`);
});

test('the index of infra/ names every file and folder there', () => {
  const documented = rows(section('Files')).flatMap(([first = '']) => inBackticks(first));
  const here = readdirSync(join(root, 'infra'), { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return [`${entry.name}/`];
    return /^(README\.md|costs-.*)$/.test(entry.name) ? [] : [entry.name];
  });
  expect(documented.sort()).toEqual(here.sort());
});
