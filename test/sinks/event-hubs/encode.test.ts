import { expect, test } from 'vitest';
import { phases } from '../../../src/lifecycle/record.ts';
import { partitionKey } from '../../../src/sinks/cloud-event.ts';
import { encodeEvent } from '../../../src/sinks/event-hubs/encode.ts';
import { sampleEntry } from '../../support/sample-record.ts';

test('a record is a CloudEvent in AMQP binary mode', () => {
  const entry = sampleEntry({ eventId: 'ABC', recordId: 'r1', transitionId: 't1', sequence: 3 });
  expect(encodeEvent(entry)).toEqual({
    body: entry.json,
    contentType: 'application/json',
    messageId: 'r1',
    correlationId: 't1',
    properties: {
      'cloudEvents:specversion': '1.0',
      'cloudEvents:id': 'r1',
      'cloudEvents:source': entry.record.resourceId,
      'cloudEvents:type': 'com.scheduledeventsbridge.scheduledevent.scheduled.v1',
      'cloudEvents:subject': 'ABC',
      'cloudEvents:time': entry.record.observedAt,
      'cloudEvents:dataschema': 'urn:scheduled-events-bridge:lifecycle-record:v1',
      'cloudEvents:partitionkey': 'abc',
      'cloudEvents:sequence': '3',
      'cloudEvents:transitionid': 't1',
    },
  });
});

test('the body is the stored buffer itself, which the SDK does not serialise again', () => {
  const entry = sampleEntry();
  expect(encodeEvent(entry).body).toBe(entry.json);
});

test('every attribute is text, which is all that Kafka readers can read', () => {
  for (const value of Object.values(encodeEvent(sampleEntry()).properties ?? {})) expect(typeof value).toBe('string');
});

test('an observer without a resource id is named by its vmId', () => {
  const { properties } = encodeEvent(sampleEntry({ resourceId: null, vmId: '02AAB8A4-74EF' }));
  expect(properties?.['cloudEvents:source']).toBe('urn:uuid:02aab8a4-74ef');
});

test('the type of a CloudEvent contains the phase', () => {
  const types = phases.map((phase) => encodeEvent(sampleEntry({ phase })).properties?.['cloudEvents:type']);
  expect(types).toContain('com.scheduledeventsbridge.scheduledevent.completed.v1');
  expect(new Set(types).size).toBe(phases.length);
});

test('however an EventId is spelled, its records share a partition', () => {
  expect(partitionKey(sampleEntry({ eventId: 'AbC-1' }).record)).toBe('abc-1');
});
