import { describe, expect, test } from 'vitest';
import { hubProblems, otherStreams, withoutCopies } from '../../../../infra/acceptance/data/check-hub.ts';
import { columnProblems, rowProblems } from '../../../../infra/acceptance/data/check-tables.ts';
import { ownTables } from '../../../../infra/acceptance/data/workspace-rows.ts';
import type { EnqueuedRecord } from '../../../../infra/acceptance/target.ts';
import { encodeRow } from '../../../../src/sinks/log-analytics/encode.ts';
import { sampleRecord } from '../../../support/sample-record.ts';

/** As `infra/record.md` describes the message of a record. */
function message(position: number, changed: Partial<EnqueuedRecord> = {}): EnqueuedRecord {
  const record = sampleRecord({ recordId: `record-${position}`, position, sequence: position, streamId: 'stream' });
  return {
    record,
    enqueuedAt: new Date(Date.parse(record.observedAt) + 2_000),
    partitionId: '2',
    partitionKey: '602d9444-d2cd-49c7-8624-8643e7171297',
    messageId: `record-${position}`,
    correlationId: record.transitionId,
    contentType: 'application/json',
    properties: {
      'cloudEvents:specversion': '1.0',
      'cloudEvents:id': `record-${position}`,
      'cloudEvents:source': record.resourceId,
      'cloudEvents:type': 'com.scheduledeventsbridge.scheduledevent.scheduled.v1',
      'cloudEvents:subject': '602D9444-D2CD-49C7-8624-8643E7171297',
      'cloudEvents:time': record.observedAt,
      'cloudEvents:dataschema': 'urn:scheduled-events-bridge:lifecycle-record:v1',
      'cloudEvents:partitionkey': '602d9444-d2cd-49c7-8624-8643e7171297',
      'cloudEvents:sequence': String(position),
      'cloudEvents:transitionid': record.transitionId,
    },
    ...changed,
  };
}
const three = [message(1), message(2), message(3)];
const stream = { machine: 'web_3', streamId: 'stream', position: 3 };

describe('the messages of a hub', () => {
  test('are complete, also with a copy of an earlier one', () => {
    expect(hubProblems(three, [stream])).toEqual([]);
    expect(hubProblems([...three, message(2)], [stream])).toEqual([]);
    expect(withoutCopies([...three, message(2)])).toEqual(three);
  });

  test('of a VM that was deleted are complete up to its last one', () => {
    expect(otherStreams(three, [stream])).toEqual([]);
    const others = otherStreams([message(3), message(1)], []);
    expect(others).toEqual([stream]);
    expect(hubProblems([message(1), message(3)], others)).toEqual([expect.stringContaining('position 2')]);
  });

  const planted: readonly (readonly [what: string, messages: readonly EnqueuedRecord[], found: string])[] = [
    ['a record is missing', [message(1), message(3)], 'The hub does not hold 1 of the 3 records of web_3: position 2.'],
    [
      'the partition key is another one',
      [message(1, { partitionKey: null }), message(2), message(3)],
      'partitionKey of the record record-1 is null',
    ],
    [
      'the type of the content is lost',
      [message(1, { contentType: null }), message(2), message(3)],
      'contentType of the record record-1 is null',
    ],
    [
      'an attribute is lost',
      [message(1, { properties: { ...three[0]?.properties, 'cloudEvents:type': undefined } }), message(2), message(3)],
      'cloudEvents:type of the record record-1 is null',
    ],
    [
      'a property is not documented',
      [message(1, { properties: { ...three[0]?.properties, 'Diagnostic-Id': '00-1' } }), message(2), message(3)],
      'has the property Diagnostic-Id, which is not documented',
    ],
    [
      'an event is in two partitions',
      [message(1), message(2, { partitionId: '0' }), message(3)],
      'is in the partitions 2 and 0',
    ],
    [
      'records are in another order',
      [message(2), message(1), message(3)],
      'The record record-1 (sequence 1) follows sequence 2 of its event.',
    ],
    [
      'a record arrived before it was observed',
      [message(1, { enqueuedAt: new Date('2026-03-01') }), message(2), message(3)],
      'before it was observed',
    ],
  ];
  test.for(planted)('are wrong when %s', ([, messages, found]) => {
    expect(hubProblems(messages, [stream])).toEqual([expect.stringContaining(found)]);
  });
});

const records = ownTables.VmLifecycle_CL ?? [];
const rows = three.map(({ record }) => encodeRow(record));

describe('the table of records', () => {
  const standard = [
    { name: 'TenantId', type: 'guid' },
    { name: '_ResourceId', type: 'string' },
  ];

  test('has the columns that were deployed, beside those of every table', () => {
    expect(records.length).toBeGreaterThan(50);
    expect(columnProblems('VmLifecycle_CL', [...records, ...standard], records)).toEqual([]);
  });

  test('has a missing column, one of another type, and one that was not deployed', () => {
    const changed = records.flatMap((each) =>
      each.name === 'Zone' ? [] : [each.name === 'Sequence' ? { ...each, type: 'real' } : each],
    );
    const extra = { name: 'Zone_s', type: 'string' };
    expect(columnProblems('VmLifecycle_CL', [...changed, extra], records)).toEqual(
      [
        expect.stringMatching(/^Sequence of VmLifecycle_CL is of type real; expected was (long|int)\.$/),
        'VmLifecycle_CL has no column Zone.',
        'VmLifecycle_CL has a column Zone_s (string) that was not deployed.',
      ].toSorted((one) => (one.toString().includes('Zone_s') ? 1 : 0)),
    );
  });

  test('has the rows of the hub, with a copy, and with times and texts as Log Analytics gives them', () => {
    const asGiven = rows.map((row) => ({
      ...row,
      TimeGenerated: String(row.TimeGenerated).replace('Z', '0000Z'),
      PhysicalZone: row.PhysicalZone ?? '',
    }));
    expect(rowProblems(three, [...asGiven, ...rows])).toEqual([]);
  });

  test('lacks a row, has one too many, and one with another value', () => {
    const [first, second] = rows;
    const problems = rowProblems(three, [
      { ...first, VmName: 'web_4' },
      { ...second },
      { StreamId: 'stream', RecordId: 'record-9' },
    ]);
    expect(problems).toEqual([
      'VmName of the row record-1 is "web_4"; the record has "web_3".',
      'The record record-3 is in the hub and not in the table.',
      'The row stream record-9 is in the table and its record not in the hub.',
    ]);
  });
});
