import { expect, test } from 'vitest';
import { accept, environmentName, fromText, type Option } from '../src/config/options.ts';
import { imdsApiVersions, observerFields, options } from '../src/config.ts';
import { accepted, refused } from './config/sample-values.ts';

const rowOf = (path: string): Option => {
  const found = options.find((option) => option.path === path);
  if (!found) throw new Error(`no row ${path}`);
  return found;
};

test('every option is declared once, with a meaning and an expectation', () => {
  const paths = options.map(({ path }) => path);
  expect(new Set(paths).size).toBe(paths.length);
  for (const { meaning, expects } of options) {
    expect(meaning).toMatch(/^\S.{3,}/);
    expect(expects).toMatch(/^\S.{3,}/);
  }
});

test('every default is accepted by its own option', () => {
  for (const option of options) {
    const { path, fallback } = option;
    if (fallback === undefined || fallback === null) continue;
    expect(accept(option, fallback), path).toEqual(fallback);
  }
});

test('every option has its own environment variable', () => {
  expect(environmentName('sinks.eventHubs.eventHubName')).toBe(
    'SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_EVENT_HUB_NAME',
  );
  expect(environmentName('observer.vmScaleSetResourceId')).toBe(
    'SCHEDULED_EVENTS_BRIDGE_OBSERVER_VM_SCALE_SET_RESOURCE_ID',
  );
  const names = options.map(({ path }) => environmentName(path));
  expect(new Set(names).size).toBe(names.length);
});

test('the seven published versions of the API are accepted and no other', () => {
  const row = rowOf('imds.apiVersion');
  expect(imdsApiVersions).toHaveLength(7);
  for (const version of imdsApiVersions) expect(accept(row, version)).toBe(version);
  for (const version of ['2021-01-01', 'latest', '{latest}', '', 20200701])
    expect(accept(row, version)).toBeUndefined();
});

test('every field of the observer VM except its tags can be overridden', () => {
  expect(observerFields).toHaveLength(19);
  for (const field of observerFields) expect(rowOf(`observer.${field}`).fallback).toBeUndefined();
});

test.for(accepted)('accepted as %s: %j', ([path, value, as = value]) => {
  expect(accept(rowOf(path), value)).toEqual(as);
});

test.for(refused)('refused as %s: %j', ([path, value]) => {
  expect(accept(rowOf(path), value)).toBeUndefined();
});

const texts: readonly (readonly [path: string, text: string, value: unknown])[] = [
  ['imds.pollIntervalSeconds', '2', 2],
  ['imds.pollIntervalSeconds', 'two', 'two'],
  ['approve.userInitiated', 'true', true],
  ['observer.tags', 'owner, environment', ['owner', 'environment']],
  ['observer.tags', '["a,b"]', ['a,b']],
  ['observer.tags', '[]', []],
  ['sinks.stdout', '{}', {}],
  ['observer.vmId', '5', '5'],
  ['imds.apiVersion', '2020-07-01', '2020-07-01'],
];

test.for(texts)('the variable of %s with the text %s', ([path, text, value]) => {
  expect(fromText(rowOf(path), text)).toEqual(value);
});

test.for([
  ['http://user:password@proxy:3128', true],
  ['http://:password@proxy', true],
  ['http://user:pass/word@proxy:3128', true],
  ['http://user:p@ss:word@proxy', true],
  ['user:password@proxy', true],
  ['http://user@proxy:3128', false],
  ['http://proxy:3128', false],
  [{ url: 'x' }, false],
] as const)('a proxy %j holds a secret: %s', ([value, isSecret]) => {
  expect(rowOf('proxy.url').isSecret?.(value)).toBe(isSecret);
});
