import { CloudEvent, HTTP } from 'cloudevents';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventDataLike, HttpRequestLike, Message } from '../../src/consumer/parse.ts';
import { parseEventData, parseHttp } from '../../src/consumer/parse.ts';
import { problemsOf, type Schema } from '../../src/consumer/validate.ts';
import { heartbeat } from '../../src/heartbeat/row.ts';
import { cloudEventAttributes } from '../../src/sinks/cloud-event.ts';
import { encodeEvent } from '../../src/sinks/event-hubs/encode.ts';
import { encodeHeartbeat } from '../../src/sinks/event-hubs/heartbeat.ts';
import { encodeRequests } from '../../src/sinks/http/encode.ts';
import { sampleFacts } from '../heartbeat/facts.ts';
import { publishedSchema, validatorOf } from '../support/published-schema.ts';
import { runs } from '../support/runs.ts';
import { sampleEntry, sampleRecord } from '../support/sample-record.ts';

const entry = sampleEntry();
const { record } = entry;
const sent = encodeEvent(entry) as EventDataLike & { properties: Record<string, unknown> };
const isRecord: Message = { kind: 'record', record };
const heartbeats = encodeHeartbeat(sampleFacts(), 'id') as EventDataLike;
const withPrefix = (prefix: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(sent.properties).map(([name, value]) => [name.replace('cloudEvents:', prefix), value]),
  );

describe('a message of an event hub', () => {
  test.each<[what: string, message: EventDataLike]>([
    ['as it is sent', sent],
    ['whose JSON the client has parsed', { ...sent, body: record }],
    ['as text', { ...sent, body: entry.json.toString() }],
    ['as bytes of another kind', { ...sent, body: new Uint8Array(entry.json) }],
    ['with the prefix cloudEvents_', { ...sent, properties: withPrefix('cloudEvents_') }],
    ['without properties', { body: entry.json }],
    ['with foreign properties', { body: record, properties: { 'x-opt': 1 } }],
    [
      'in structured mode',
      {
        contentType: 'application/cloudevents+json; charset=utf-8',
        body: { ...cloudEventAttributes(record), data: record },
      },
    ],
    [
      'in structured mode with its data in base 64',
      {
        contentType: 'application/cloudevents+json',
        body: { ...cloudEventAttributes(record), data_base64: entry.json.toString('base64') },
      },
    ],
  ])('is read %s', (_, message) => {
    expect(parseEventData(message)).toEqual(isRecord);
  });

  test('can be a heartbeat, with or without properties', () => {
    const expected = { kind: 'heartbeat', heartbeat: JSON.parse(JSON.stringify(heartbeat(sampleFacts()))) };
    expect(parseEventData(heartbeats)).toEqual(expected);
    expect(parseEventData({ body: heartbeats.body })).toEqual(expected);
  });

  test.each<[what: string, message: EventDataLike, reason: string]>([
    [
      'of a later major version',
      { ...sent, properties: { 'cloudEvents:type': 'com.scheduledeventsbridge.scheduledevent.started.v2' } },
      'message: CloudEvents of type "com.scheduledeventsbridge.scheduledevent.started.v2" are not read',
    ],
    [
      'of schema version 2',
      { body: { ...record, schemaVersion: '2.0' } },
      'message: schemaVersion is 2.0, and 1.x is read',
    ],
    [
      'of another version of CloudEvents',
      { ...sent, properties: { ...sent.properties, 'cloudEvents:specversion': '2.0' } },
      'message: CloudEvents of version "2.0" are not read',
    ],
    [
      'foreign',
      { body: { temperature: 3 } },
      'message: it has neither the type of a CloudEvent nor the fields of a record',
    ],
    [
      'foreign and not JSON',
      { body: 'hello', sequenceNumber: 7 },
      'message with sequence number 7: the body is not JSON: Unexpected token \'h\', "hello" is not valid JSON',
    ],
  ])('%s is ignored, and the reason is said', (_, message, reason) => {
    expect(parseEventData(message)).toEqual({ kind: 'ignored', reason });
  });

  test.each<[what: string, message: EventDataLike, problem: RegExp]>([
    [
      'half a body',
      { ...sent, body: '{"recordId":', sequenceNumber: 812 },
      /^message with sequence number 812: the body is not JSON: /,
    ],
    [
      'bytes that are not UTF-8',
      { ...sent, body: Buffer.from([0x22, 0xff, 0x22]) },
      /^message: the body is not JSON: /,
    ],
    ['a body that is empty', { ...sent, body: '' }, /^message: the body is not JSON: /],
    ['a list', { ...sent, body: [record] }, /^message: the body: expected an object, found \[\{"recordId"/],
    ['null', { ...sent, body: null }, /^message: the body: expected an object, found null$/],
    [
      'a record with a wrong time',
      { ...sent, body: { ...record, observedAt: 'yesterday' } },
      /^message: observedAt: expected a time such as 2026-03-14T09:26:53.123Z, found "yesterday"$/,
    ],
    [
      'a record with two mistakes',
      { ...sent, body: { ...record, sequence: 0, evidence: ['x', 3] } },
      /^message: evidence\[1\]: expected a text, found 3; sequence: expected at least 1, found 0$/,
    ],
    [
      'a record without its id',
      { ...sent, body: { ...record, recordId: undefined } },
      /^message: recordId: expected a text, found undefined$/,
    ],
    [
      'a record in structured mode without data',
      { contentType: 'application/cloudevents+json', body: cloudEventAttributes(record) },
      /^message: data: expected an object, found undefined$/,
    ],
    [
      'a heartbeat without its state',
      { ...heartbeats, body: { ...heartbeat(sampleFacts()), state: null } },
      /^message: state: expected a text, found null$/,
    ],
  ])('that claims to be ours and is %s is invalid, and what is wrong where is said', (_, message, problem) => {
    expect(parseEventData(message)).toEqual({ kind: 'invalid', problem: expect.stringMatching(problem) });
  });
});

test.each<[what: string, message: unknown, problem: string]>([
  ['undefined', undefined, 'message: expected an object with a body, found undefined'],
  ['null', null, 'message: expected an object with a body, found null'],
  ['a bigint', 7n, 'message: expected an object with a body, found [object BigInt]'],
])('a message that is %s is invalid', (_, message, problem) => {
  expect(parseEventData(message as EventDataLike)).toEqual({ kind: 'invalid', problem });
});

test('properties and content type of another kind than documented are ignored', () => {
  const message = { body: record, properties: null, contentType: Symbol('x') };
  expect(parseEventData(message as unknown as EventDataLike)).toEqual(isRecord);
});

test('a body that JSON cannot express is invalid', () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  expect(parseEventData({ ...sent, body: cycle })).toEqual({
    kind: 'invalid',
    problem: 'message: the body: expected an object, found [object Array]',
  });
});

describe('an HTTP request', () => {
  test.each<[what: string, request: unknown, found: string]>([
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['without headers', { body: 'x' }, '{"body":"x"}'],
  ])('that is %s is invalid', (_, request, found) => {
    const problem = `request: expected an object with headers and a body, found ${found}`;
    expect(parseHttp(request as HttpRequestLike)).toEqual([{ kind: 'invalid', problem }]);
  });

  const requestOf = (mode: 'structured' | 'batch', ...records: (typeof entry)[]) => {
    const [request] = encodeRequests(records, mode);
    return { headers: { 'Content-Type': request?.contentType }, body: request?.body };
  };

  test.each(['structured', 'batch'] as const)('that the bridge sends in %s mode is read', (mode) => {
    expect(parseHttp(requestOf(mode, entry))).toEqual([isRecord]);
    const headers = new Headers({ 'content-type': String(requestOf(mode, entry).headers['Content-Type']) });
    expect(parseHttp({ ...requestOf(mode, entry), headers })).toEqual([isRecord]);
  });

  test('that a framework has parsed is read', () => {
    const { headers, body } = requestOf('batch', entry, sampleEntry({ recordId: 'b' }));
    const [, second] = parseHttp({ headers, body: JSON.parse(String(body)) });
    expect(second).toMatchObject({ kind: 'record', record: { recordId: 'b' } });
  });

  test('that the SDK of CloudEvents makes is read in every mode', () => {
    const event = new CloudEvent({
      ...cloudEventAttributes(record),
      datacontenttype: 'application/json',
      data: record,
    });
    for (const { headers, body } of [HTTP.binary(event), HTTP.structured(event)])
      expect(parseHttp({ headers: headers as Record<string, string>, body })).toEqual([isRecord]);
  });

  test('with a batch in which one event is bad gives the others', () => {
    const batch = [
      { ...cloudEventAttributes(record), data: record },
      3,
      { ...cloudEventAttributes(record), data: { ...record, vmId: '' } },
    ];
    const headers = { 'content-type': 'application/cloudevents-batch+json' };
    expect(parseHttp({ headers, body: batch })).toEqual([
      isRecord,
      { kind: 'invalid', problem: 'event 2 of 3: expected a CloudEvent, found 3' },
      { kind: 'invalid', problem: 'event 3 of 3: data.vmId: expected a text that is not empty, found ""' },
    ]);
  });

  test.each([
    [
      'is no CloudEvent',
      { headers: { 'content-type': 'text/plain' }, body: '{}' },
      /^request: content-type is "text\/plain" and there is no header ce-type: expected application\/cloudevents\+json/,
    ],
    [
      'is no list in batch mode',
      { headers: { 'content-type': 'application/cloudevents-batch+json' }, body: '{}' },
      /^request: expected a list of CloudEvents, found \{\}$/,
    ],
    [
      'has half a body',
      { headers: { 'content-type': 'application/cloudevents+json' }, body: '{' },
      /^request: the body is not JSON: /,
    ],
  ])('that %s is invalid, and what is wrong is said', (_, request, problem) => {
    expect(parseHttp(request)).toEqual([{ kind: 'invalid', problem: expect.stringMatching(problem) }]);
  });
});

describe('the validator', () => {
  const schemas = ['lifecycle-record.v1.json', 'heartbeat.v1.json'] as const;
  /** What `problemsOf` understands, and what says nothing about validity. */
  const understood = [
    'type',
    'const',
    'not',
    'allOf',
    'if',
    'then',
    'required',
    'properties',
    'additionalProperties',
    'items',
    'minLength',
    'minimum',
    'pattern',
    'format',
  ];
  const annotations = ['$schema', '$id', 'title', 'description', 'examples'];

  function keywordsOf(schema: Schema): string[] {
    const inner = [
      schema.not,
      schema.if,
      schema.then,
      schema.items,
      schema.additionalProperties,
      ...(schema.allOf ?? []),
      ...Object.values(schema.properties ?? {}),
    ];
    return [...Object.keys(schema), ...inner.flatMap((one) => (one ? keywordsOf(one) : []))];
  }

  test.each(schemas)('understands every keyword of %s', (name) => {
    const used = new Set(keywordsOf(publishedSchema(name)));
    expect([...used].filter((keyword) => ![...understood, ...annotations].includes(keyword))).toEqual([]);
  });

  const values = fc.oneof(
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1.5,
      '',
      'text',
      '1.0',
      '1.1',
      '2.0',
      '2026-02-30T00:00:00.000Z',
      '2026-03-14T24:00:00.000Z',
    ),
    fc.constantFrom(
      '2026-03-14T09:26:53.123Z',
      '2026-03-14T09:26:53Z',
      [],
      [1],
      ['a'],
      {},
      { a: 1 },
      { a: 'b' },
      { a: { b: 1 } },
    ),
    fc.constantFrom([{ field: 'a', from: 1, to: null }], [{ field: 1, from: 1, to: 1 }], [{ field: 'a' }]),
    fc.jsonValue({ maxDepth: 2 }),
  );

  test.each(schemas)('agrees with ajv on %s with any fields changed or missing', (name) => {
    const sample = name === 'heartbeat.v1.json' ? heartbeat(sampleFacts()) : sampleRecord();
    const ajv = validatorOf(name);
    const verdicts = { valid: 0, invalid: 0 };
    const numRuns = runs(`changes of ${name}`, { quick: 400, full: 1_500 });
    const change = fc.tuple(fc.constantFrom(...Object.keys(sample), 'later'), fc.option(values, { nil: undefined }));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 3 }), (changes) => {
        const changed = { ...sample, ...Object.fromEntries(changes) };
        // What is undefined is missing, as it is in JSON.
        const value = JSON.parse(JSON.stringify(changed));
        const isValid = ajv(value).length === 0;
        verdicts[isValid ? 'valid' : 'invalid'] += 1;
        expect([value, problemsOf(value, publishedSchema(name)).length === 0]).toEqual([value, isValid]);
      }),
      { numRuns },
    );
    expect(Math.min(verdicts.valid, verdicts.invalid)).toBeGreaterThan(numRuns / 8);
  });
});
