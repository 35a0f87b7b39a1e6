import { expect, test } from 'vitest';
import { createFeatureSwitch } from '../../../src/azure-simulator/imds/feature-switch.ts';

const hour = 3_600_000;

test('the first answer, and every one until then, waits until the feature is on', () => {
  const feature = createFeatureSwitch(() => expect.unreachable('it was not turned off'));
  feature.firstCallDelay(120_000);
  expect([0, 50_000, 120_000, 121_000].map((now) => feature.asked(now))).toEqual([120_000, 70_000, 0, 0]);
});

test('a day without a request turns it off; a request an hour keeps it on', () => {
  let timesOff = 0;
  const feature = createFeatureSwitch(() => {
    timesOff += 1;
  });
  for (const hours of [0, 1, 24, 47]) feature.asked(hours * hour);
  expect(timesOff).toBe(0);
  feature.firstCallDelay(1000);
  expect(feature.asked(71 * hour)).toBe(1000);
  expect(timesOff).toBe(1);
});

test('a feature that was turned off manually is turned on by the next request', () => {
  let timesOff = 0;
  const feature = createFeatureSwitch(() => {
    timesOff += 1;
  });
  feature.asked(0);
  feature.firstCallDelay(5);
  feature.switchOff();
  expect([feature.asked(10), feature.asked(20), timesOff]).toEqual([5, 0, 1]);
});
