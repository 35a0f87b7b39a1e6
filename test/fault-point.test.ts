import { expect, test } from 'vitest';
import { openFaultPoint } from '../src/fault-point.ts';
import { pointCases } from './faults/points/point-cases.ts';
import { readTree } from './support/source-tree.ts';

test.for([
  [undefined, 0],
  ['before-send', 1],
  ['before-send:2', 2],
  ['before-send:4', 0],
  ['after-append', 0],
] as const)('with %s the process ends at passing %i of three of before-send', ([value, expected]) => {
  let passing = 0;
  const kills: number[] = [];
  const env = value === undefined ? {} : { BRIDGE_FAULT_POINT: value };
  const faultPoint = openFaultPoint(env, () => kills.push(passing));
  for (passing = 1; passing <= 3; passing += 1) faultPoint('before-send');
  expect(kills).toEqual(expected === 0 ? [] : [expected]);
});

test('every fault point is in one place of the code, and the fault test ends the process at each', () => {
  const places = [...readTree('src/**/*.ts').values()].flatMap((text) =>
    [...text.matchAll(/\bfaultPoint\('([^']*)'\)/g)].map(([, name]) => name),
  );
  expect(places.toSorted()).toEqual(Object.keys(pointCases).toSorted());
});
