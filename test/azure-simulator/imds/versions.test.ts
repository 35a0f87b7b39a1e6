import { describe, expect, test } from 'vitest';
import { documentOfVersion, scheduledEventsVersions } from '../../../src/azure-simulator/imds/versions.ts';
import { toWireEvent } from '../../../src/azure-simulator/imds/wire.ts';

const event = (eventType: string): ReturnType<typeof toWireEvent> =>
  toWireEvent({ eventId: eventType, eventType, resources: ['web_0'] }, new Date());
const document = { DocumentIncarnation: 7, Events: ['Freeze', 'Preempt', 'Terminate'].map(event) };
const common = ['EventId', 'EventStatus', 'EventType', 'ResourceType', 'Resources', 'NotBefore'];

const cases: [version: string, types: string[], fields: string[], resource: string][] = [
  ['2017-03-01', ['Freeze'], common, '_web_0'],
  ['2017-08-01', ['Freeze'], common, 'web_0'],
  ['2017-11-01', ['Freeze', 'Preempt'], common, 'web_0'],
  ['2019-01-01', ['Freeze', 'Preempt', 'Terminate'], common, 'web_0'],
  ['2019-04-01', ['Freeze', 'Preempt', 'Terminate'], [...common, 'Description'], 'web_0'],
  ['2019-08-01', ['Freeze', 'Preempt', 'Terminate'], [...common, 'Description', 'EventSource'], 'web_0'],
  [
    '2020-07-01',
    ['Freeze', 'Preempt', 'Terminate'],
    [...common, 'Description', 'EventSource', 'DurationInSeconds'],
    'web_0',
  ],
];

describe('the simulated document in an older version', () => {
  test.each(cases)('%s has the types %j and shows %j', (version, types, fields, resource) => {
    const shown = documentOfVersion(document, version);
    expect(shown.Events.map(({ EventType }) => EventType)).toEqual(types);
    expect(Object.keys(shown.Events[0] ?? {})).toEqual(fields);
    expect(shown.Events[0]?.Resources).toEqual([resource]);
  });

  test('every published version has its row', () => {
    expect(cases.map(([version]) => version)).toEqual([...scheduledEventsVersions]);
  });

  test('a field that no version knows passes through all of them', () => {
    const odd = { DocumentIncarnation: 1, Events: [{ ...event('Freeze'), Moon: 'full' }] };
    expect(documentOfVersion(odd, '2017-08-01').Events[0]).toHaveProperty('Moon', 'full');
  });
});
