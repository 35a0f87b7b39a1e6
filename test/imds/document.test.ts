import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ParsedDocument, parseDocument } from '../../src/imds/document.ts';
import type { EventsDocument, ScheduledEvent } from '../../src/lifecycle/scheduled-event.ts';
import { fixture, fixtureNames } from './fixture.ts';

const newest = '2020-07-01';

function documentOf(body: string, apiVersion = newest): EventsDocument {
  const parsed = parseDocument(body, apiVersion);
  if (parsed.kind !== 'document') throw new Error(`no document: ${parsed.reason}`);
  return parsed.document;
}

const bodyOf = (...events: readonly unknown[]): string => JSON.stringify({ DocumentIncarnation: 7, Events: events });

const listed = {
  EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  EventStatus: 'Scheduled',
  EventType: 'Freeze',
  ResourceType: 'VirtualMachine',
  Resources: ['web_0'],
  NotBefore: 'Mon, 11 Apr 2022 22:26:58 GMT',
  Description: 'Virtual machine is being paused.',
  EventSource: 'Platform',
  DurationInSeconds: 5,
};

/** The one event of a document that lists just this. */
function eventOf(wire: object, apiVersion = newest): ScheduledEvent {
  const [event, ...others] = documentOf(bodyOf(wire), apiVersion).events;
  if (event === undefined || others.length > 0) throw new Error('expected one event');
  return event;
}

test.each(fixtureNames)('the document %s is understood', (name) => {
  const body = fixture(name);
  const apiVersion = /^version-(.*)/.exec(name)?.[1] ?? newest;
  const document = documentOf(body, apiVersion);
  const wire = JSON.parse(body) as { DocumentIncarnation: number; Events: { EventId?: string }[] };
  expect(document.incarnation).toBe(wire.DocumentIncarnation);
  const ids = wire.Events.flatMap((entry) => entry?.EventId?.toLowerCase() ?? []);
  expect(document.events.map(({ eventId }) => eventId.toLowerCase())).toEqual([...new Set(ids)]);
});

describe('the documents of a live migration', () => {
  test('a scheduled freeze is read with every field', () => {
    expect(documentOf(fixture('live-migration-2-scheduled'))).toEqual({
      incarnation: 2,
      unreadable: 0,
      events: [
        {
          eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
          eventStatus: 'Scheduled',
          eventType: 'Freeze',
          resourceType: 'VirtualMachine',
          resources: ['WestNO_0', 'WestNO_1'],
          notBefore: '2022-04-11T22:26:58.000Z',
          description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
          eventSource: 'Platform',
          durationSeconds: 5,
          raw: JSON.parse(fixture('live-migration-2-scheduled')).Events[0],
        },
      ],
    });
  });

  test('a started event has no notBefore any more', () => {
    const [event] = documentOf(fixture('live-migration-3-started')).events;
    expect(event).toMatchObject({ eventStatus: 'Started', notBefore: null });
  });

  test('a document without events is a document', () => {
    expect(documentOf(fixture('live-migration-4-gone'))).toEqual({ incarnation: 4, events: [], unreadable: 0 });
  });
});

describe('api-versions', () => {
  const full = { description: true, source: true, duration: true };
  test.each([
    { version: '2017-03-01', has: {}, names: ['FrontEnd_IN_0', 'BackEnd_IN_0', '_odd'] },
    { version: '2017-08-01', has: {}, names: ['FrontEnd_IN_0', 'BackEnd_IN_0', '_odd'] },
    { version: '2017-11-01', has: {}, names: ['FrontEnd_IN_0', 'BackEnd_IN_0', '_odd'] },
    { version: '2019-01-01', has: {}, names: ['FrontEnd_IN_0', 'BackEnd_IN_0', '_odd'] },
    { version: '2019-04-01', has: { description: true }, names: ['FrontEnd_IN_0', 'BackEnd_IN_0', '_odd'] },
    {
      version: '2019-08-01',
      has: { description: true, source: true },
      names: ['FrontEnd_IN_0', 'BackEnd_IN_0', '_odd'],
    },
    { version: '2020-07-01', has: full, names: ['FrontEnd_IN_0', 'BackEnd_IN_0', '_odd'] },
  ])('$version is understood, with what it does not have yet as unknown', ({ version, has, names }) => {
    const [event] = documentOf(fixture(`version-${version}`), version).events;
    expect(event?.resources).toEqual(names);
    expect({
      ...(event?.description === null ? {} : { description: true }),
      ...(event?.eventSource === null ? {} : { source: true }),
      ...(event?.durationSeconds === null ? {} : { duration: true }),
    }).toEqual(has);
  });

  test('only 2017-03-01 loses a leading underscore of its names, and only one', () => {
    const wire = { ...listed, Resources: ['_web_0', '__web_1', '_'] };
    expect(eventOf(wire, '2017-03-01').resources).toEqual(['web_0', '_web_1', '_']);
    expect(eventOf(wire, '2017-08-01').resources).toEqual(['_web_0', '__web_1', '_']);
    expect(eventOf(wire, '2017-03-01').raw.Resources).toEqual(['_web_0', '__web_1', '_']);
  });
});

describe('fields that cannot be read cost only themselves', () => {
  const without = (field: string): object =>
    Object.fromEntries(Object.entries(listed).filter(([name]) => name !== field));

  const nothing: readonly unknown[] = ['', ' ', null, 7, true, {}, []];
  test.each([
    { field: 'EventStatus', as: 'eventStatus', wrong: nothing },
    { field: 'EventType', as: 'eventType', wrong: nothing },
    { field: 'ResourceType', as: 'resourceType', wrong: nothing },
    { field: 'Description', as: 'description', wrong: nothing },
    { field: 'EventSource', as: 'eventSource', wrong: nothing },
    { field: 'NotBefore', as: 'notBefore', wrong: [...nothing, 'soon', '0001-01-01T00:00:00Z', 1649715618] },
    { field: 'Resources', as: 'resources', wrong: [null, '', 'web_0', 7, {}, [7, null], ['']] },
    { field: 'DurationInSeconds', as: 'durationSeconds', wrong: [null, '', '5', 'long', 5.5, true, [], 1e300] },
  ] as const)('$field missing or of the wrong kind is unknown', ({ field, as, wrong }) => {
    const others = Object.keys(eventOf(listed)).filter((name) => name !== as && name !== 'raw');
    for (const wire of [without(field), ...wrong.map((value) => ({ ...listed, [field]: value }))]) {
      const event = eventOf(wire);
      expect(event[as], JSON.stringify(wire)).toBeNull();
      for (const other of others) expect(event).toHaveProperty(other, eventOf(listed)[other as keyof ScheduledEvent]);
    }
  });

  test.each([-1, 0, 5, 30])('a duration of %i stays what it is', (seconds) => {
    expect(eventOf({ ...listed, DurationInSeconds: seconds }).durationSeconds).toBe(seconds);
  });

  test('an empty list of names is a list', () => {
    expect(eventOf({ ...listed, Resources: [] }).resources).toEqual([]);
  });

  test('a name that cannot be read does not take the others with it', () => {
    expect(eventOf({ ...listed, Resources: ['web_0', 7, '', 'web_1'] }).resources).toEqual(['web_0', 'web_1']);
  });

  test('unknown values and fields are kept', () => {
    const [event] = documentOf(fixture('odd-unknown-words')).events;
    expect(event).toMatchObject({ eventStatus: 'Acknowledged', eventType: 'Relocate' });
    expect(event?.raw).toMatchObject({ ImpactedZones: ['1', '2'], Details: { Rack: 'A7', Batch: 2 } });
  });

  test('an entry nested too deeply to be written down again loses the field that nests', () => {
    const deep = `${'['.repeat(900)}${']'.repeat(900)}`;
    const body = bodyOf(listed).replace('"Freeze"', `"Freeze","Bottomless":${deep}`);
    const [event] = documentOf(body).events;
    expect(event?.eventType).toBe('Freeze');
    expect(event?.raw).toEqual(listed);
    expect(JSON.stringify(event?.raw)).toBe(JSON.stringify(listed));
  });
});

test('brackets within a text nest nothing', () => {
  const body = bodyOf({ ...listed, Description: `\\"${'['.repeat(2_000)}` });
  expect(documentOf(body).events).toHaveLength(1);
});

test('the maximum number of events is read', () => {
  const Events = Array.from({ length: 1_000 }, (_, n) => ({ EventId: `event-${n}` }));
  expect(documentOf(JSON.stringify({ DocumentIncarnation: 1, Events })).events).toHaveLength(1_000);
});

test('an EventId with half a surrogate pair is invalid', () => {
  const body = bodyOf({ ...listed, EventId: 'broken-\ud800-id' });
  expect(documentOf(body)).toMatchObject({ events: [], unreadable: 1 });
});

describe('entries', () => {
  test('one that cannot be read leaves its neighbours and is counted', () => {
    const { events, unreadable } = documentOf(fixture('odd-one-bad-entry'));
    expect(events.map(({ eventId }) => eventId.slice(-1))).toEqual(['3', '4']);
    expect(unreadable).toBe(3);
    expect(events[1]).toMatchObject({ resources: null, notBefore: null, durationSeconds: null, eventType: null });
  });

  test.each([undefined, null, '', '  ', 7, {}, ['id']])('an EventId of %j cannot be read', (EventId) => {
    expect(documentOf(bodyOf({ ...listed, EventId }))).toMatchObject({ events: [], unreadable: 1 });
  });

  test('two of one id are one event: names united, Started wins', () => {
    const { events, unreadable } = documentOf(fixture('odd-two-entries-of-one-id'));
    expect(unreadable).toBe(0);
    expect(events).toHaveLength(1);
    expect(events[0]?.eventStatus).toBe('Started');
    expect(events[0]?.resources?.map((name) => name.toLowerCase()).sort()).toEqual(['web_0', 'web_1', 'web_2']);
  });

  test('two of one id that only differ in their words: the first in lexical order of its JSON wins', () => {
    const one = { ...listed, Description: 'b', Resources: ['web_1'] };
    const other = { ...listed, Description: 'a', Resources: ['web_0'] };
    const first = [one, other].toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))[0];
    for (const order of [
      [one, other],
      [other, one],
    ]) {
      const [event] = documentOf(bodyOf(...order)).events;
      expect(event?.description).toBe(first?.Description);
      expect(event?.resources).toEqual(['web_0', 'web_1']);
    }
  });

  test('an id with more than one entry is reported, in lower case and once', () => {
    const other = { ...listed, EventId: 'Another' };
    expect(documentOf(bodyOf(listed, other))).not.toHaveProperty('listedTwice');
    const freeze = { ...other, EventType: 'Freeze' };
    const reboot = { ...other, EventId: 'ANOTHER', EventType: 'Reboot' };
    expect(documentOf(bodyOf(listed, freeze, reboot, reboot)).listedTwice).toEqual(['another']);
  });

  test('two of one id, of which one has no names that can be read: the names of the other', () => {
    const [event] = documentOf(bodyOf({ ...listed, Resources: null }, listed)).events;
    expect(event?.resources).toEqual(['web_0']);
    expect(
      documentOf(bodyOf({ ...listed, Resources: null }, { ...listed, Resources: 1 })).events[0]?.resources,
    ).toBeNull();
  });
});

describe('bodies that are no document', () => {
  test.each<{ why: string; body: string; code: string; message: RegExp }>([
    { why: 'nothing', body: '', code: 'empty-body', message: /empty body/ },
    { why: 'blanks', body: ' \r\n ', code: 'empty-body', message: /empty body/ },
    {
      why: 'half of it',
      body: fixture('live-migration-2-scheduled').slice(0, 200),
      code: 'truncated',
      message: /200 char/,
    },
    {
      why: 'a page',
      body: '<!DOCTYPE html>\n<html>',
      code: 'not-json',
      message: /begins with "<!DOCTYPE html> <html>"/,
    },
    { why: 'broken JSON', body: '{"DocumentIncarnation": }', code: 'not-json', message: /not JSON/ },
    { why: 'brackets', body: '['.repeat(1_001), code: 'too-deep', message: /deeper than 1000 levels/ },
    {
      why: 'an event for each VM of a region',
      body: JSON.stringify({ DocumentIncarnation: 1, Events: Array(1_001).fill({ EventId: 'a' }) }),
      code: 'too-many-events',
      message: /lists more than 1000 events/,
    },
    { why: 'null', body: 'null', code: 'not-an-object', message: /"null"/ },
    { why: 'a list', body: '[]', code: 'not-an-object', message: /not a document/ },
    { why: 'text', body: '"Events"', code: 'not-an-object', message: /not a document/ },
    { why: 'an error', body: '{"error":"Bad request"}', code: 'no-events', message: /Bad request/ },
    { why: 'no list', body: '{"DocumentIncarnation":1}', code: 'no-events', message: /no list of Events/ },
    {
      why: 'a list that is none',
      body: '{"DocumentIncarnation":1,"Events":{}}',
      code: 'no-events',
      message: /no list/,
    },
    { why: 'Events null', body: '{"DocumentIncarnation":1,"Events":null}', code: 'no-events', message: /no list/ },
    { why: 'no counter', body: '{"Events":[]}', code: 'no-incarnation', message: /DocumentIncarnation/ },
    {
      why: 'a counter of words',
      body: '{"Events":[],"DocumentIncarnation":"1"}',
      code: 'no-incarnation',
      message: /whole/,
    },
    {
      why: 'a broken counter',
      body: '{"Events":[],"DocumentIncarnation":1.5}',
      code: 'no-incarnation',
      message: /whole/,
    },
    { why: 'infinity', body: '{"Events":[],"DocumentIncarnation":1e999}', code: 'no-incarnation', message: /whole/ },
  ])('a body of $why', ({ body, code, message }) => {
    const parsed = parseDocument(body, newest) as Extract<ParsedDocument, { kind: 'unavailable' }>;
    expect(parsed).toMatchObject({ kind: 'unavailable', code });
    expect(parsed.reason).toMatch(message);
    expect(parsed.reason).toMatch(/it is ignored\.$/);
  });

  test('a byte order mark in front is no obstacle', () => {
    expect(documentOf(`\uFEFF${bodyOf(listed)}`).events).toHaveLength(1);
  });
});

test.each([
  ['0', 0],
  ['-3', -3],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['9007199254740993', Number.MAX_SAFE_INTEGER],
  ['18446744073709551615', Number.MAX_SAFE_INTEGER],
  ['1e300', Number.MAX_SAFE_INTEGER],
])('a counter of %s is the safe number %d', (wire, incarnation) => {
  expect(documentOf(`{"DocumentIncarnation":${wire},"Events":[]}`).incarnation).toBe(incarnation);
});

describe('whatever comes', () => {
  const wireNames = Object.keys(listed);
  const anything = fc.jsonValue({ maxDepth: 3 });
  const entry = fc.oneof(
    anything,
    fc.dictionary(fc.oneof(fc.constantFrom(...wireNames), fc.string()), anything),
    fc.record({
      EventId: fc.constantFrom('A', 'a', 'B', ''),
      EventStatus: fc.constantFrom('Scheduled', 'Started', 'X'),
    }),
  );
  const versions = fc.constantFrom('2017-03-01', newest);

  test('no text makes the parser throw', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      anything.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(text, versions, (body, version) => {
        expect(['document', 'unavailable']).toContain(parseDocument(body, version).kind);
      }),
    );
  });

  test('each entry is an event, part of one, or counted; all of it stays readable', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), fc.integer(), versions, (entries, incarnation, version) => {
        const body = JSON.stringify({ DocumentIncarnation: incarnation, Events: entries });
        const wire = JSON.parse(body).Events as readonly unknown[];
        const document = documentOf(body, version);
        const hasId = (one: unknown): one is { EventId: string } =>
          typeof (one as { EventId?: unknown } | null)?.EventId === 'string' &&
          (one as { EventId: string }).EventId.trim() !== '' &&
          !Array.isArray(one);
        const readable = wire.filter(hasId);
        expect(document.unreadable).toBe(wire.length - readable.length);
        const ids = new Set(readable.map(({ EventId }) => EventId.toLowerCase()));
        expect(new Set(document.events.map(({ eventId }) => eventId.toLowerCase()))).toEqual(ids);
        expect(document.events).toHaveLength(ids.size);
        for (const { raw } of document.events) expect(readable).toContainEqual(raw);
      }),
    );
  });

  test('the order of the entries changes nothing', () => {
    fc.assert(
      fc.property(
        fc
          .array(entry, { maxLength: 6 })
          .chain((entries) =>
            fc.tuple(fc.constant(entries), fc.shuffledSubarray(entries, { minLength: entries.length })),
          ),
        ([entries, shuffled]) => {
          const sorted = (document: EventsDocument): unknown =>
            document.events.toSorted((one, other) =>
              one.eventId.toLowerCase() < other.eventId.toLowerCase() ? -1 : 1,
            );
          expect(sorted(documentOf(bodyOf(...shuffled)))).toEqual(sorted(documentOf(bodyOf(...entries))));
        },
      ),
    );
  });
});
