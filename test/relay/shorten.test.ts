import { describe, expect, test } from 'vitest';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { marker, shorten } from '../../src/relay/shorten.ts';
import { sampleRecord } from '../support/sample-record.ts';

const many = Array.from({ length: 400 }, (_, index) => `node_${index}`);
const own = sampleRecord().vmName;
const large = sampleRecord({
  description: 'x'.repeat(4_000),
  affectedResources: [...many, own],
  affectedResourceCount: 401,
  rawEvent: { EventId: 'A', Resources: [...many, own], Extra: 1 },
});

/** The record after each shortening, until no more can be left out. */
function shortened(record: LifecycleRecord): LifecycleRecord[] {
  const steps: LifecycleRecord[] = [];
  for (let json = shorten(Buffer.from(JSON.stringify(record))); json; json = shorten(json)) {
    steps.push(JSON.parse(json.toString()) as LifecycleRecord);
  }
  return steps;
}

describe('a record that a destination refuses as too large', () => {
  test('loses its description first, then the raw resources, then the affected resources', () => {
    const [first, second, third, ...rest] = shortened(large);
    const description = `${'x'.repeat(200)} ${marker}`;
    expect(first).toEqual({ ...large, description });
    const names = [own, ...many.slice(0, 9), marker];
    const rawEvent = { ...large.rawEvent, Resources: names };
    expect(second).toEqual({ ...large, description, rawEvent });
    expect(third).toEqual({ ...large, description, rawEvent, affectedResources: names });
    expect(rest).toEqual([]);
  });

  test('keeps its own VM and the true number of affected ones', () => {
    const last = shortened(large).at(-1);
    expect(last?.affectedResources).toContain(own);
    expect(last?.affectedResourceCount).toBe(401);
  });

  test.each([
    { name: 'with nothing long in it', record: sampleRecord() },
    {
      name: 'without description and resources',
      record: sampleRecord({ description: null, rawEvent: {}, affectedResources: [] }),
    },
    { name: 'that was shortened before', record: shortened(large).at(-1) ?? large },
  ])('cannot be shortened: one $name', ({ record }) => {
    expect(shorten(Buffer.from(JSON.stringify(record)))).toBeNull();
  });

  test('whose raw resources are no list loses the rest only', () => {
    const record = { ...large, rawEvent: { Resources: 'all' } };
    expect(shortened(record).map(({ rawEvent }) => rawEvent)).toEqual([{ Resources: 'all' }, { Resources: 'all' }]);
  });
});
