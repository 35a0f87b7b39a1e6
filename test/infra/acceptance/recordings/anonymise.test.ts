import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anonymise } from '../../../../infra/acceptance/recordings/anonymise.ts';
import type { KnownName } from '../../../../infra/acceptance/recordings/names.ts';
import { findLeaks } from '../../../../infra/acceptance/recordings/scan.ts';
import { readRecording } from '../../../../src/azure-simulator/recording/read-recording.ts';
import { type Change, writeChange, writeHeader } from '../../../../src/recording/format.ts';
import { readTree } from '../../../support/source-tree.ts';

const recording = (
  vm: { readonly name: string; readonly [field: string]: unknown } | null,
  ...changes: Change[]
): string =>
  [
    writeHeader({
      begunAt: new Date('2026-11-21T09:00:00.250Z'),
      endpoint: 'http://10.1.2.3:8080/vm/orion',
      apiVersion: '2020-07-01',
      vm,
    }),
    ...changes.map(writeChange),
  ].join('');

const vm = {
  name: 'fleet_3',
  scaleSet: 'fleet',
  vmId: '2a1c1b1e-0000-4000-a000-000000000007',
  placementGroupId: '',
  subscriptionId: '11111111-0000-4000-a000-000000000000',
  resourceGroup: 'RG-Orion',
  location: 'westeurope',
  physicalZone: 'westeurope-az2',
  vmSize: 'Standard_D2s_v5',
  osType: 'Linux',
  image: { publisher: 'Canonical', offer: 'contoso-image', sku: 'server', version: '24.04.202504080' },
};

const event = {
  EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  EventStatus: 'Scheduled',
  EventType: 'Hibernate',
  ResourceType: 'VirtualMachine',
  Resources: ['fleet_3', '_FLEET_4', 'flex_1a2b3c', 'db'],
  NotBefore: 'Sat, 21 Nov 2026 09:15:00 GMT',
  Description: 'Virtual machine db is going to be restarted as requested by Jane at 2026-11-21T09:00:00Z.',
  EventSource: 'User',
  DurationInSeconds: -1,
  Novelty: {
    severity: 'High',
    'the-owner': 'jane',
    correlationId: 'c7061bac-afdc-4513-b24b-aa5f13a16123',
    at: '2026-11-21T09:00:01.1234567Z',
    epoch: 1795251600,
    phone: 31612345678,
    limit: 12,
    isLive: true,
    Tags: { team: 'orion' },
  },
};

const known: readonly KnownName[] = [{ kind: 'scale-set', name: 'flex' }];

test('a recording keeps its structure, and nothing else of its origin', () => {
  const { text, replaced, removed } = anonymise(
    recording(
      vm,
      { atSeconds: 0.5, seen: { document: { DocumentIncarnation: 7, Events: [event] } } },
      {
        atSeconds: 61,
        seen: {
          answer: {
            status: 503,
            headers: {
              'retry-after': '5',
              date: 'Sat, 21 Nov 2026 09:01:01 GMT',
              server: 'IIS',
              'x-ms-request-id': 'r7',
            },
            body: '{"error":"Try fleet_4 at 10.9.8.7"}',
          },
        },
      },
      { atSeconds: 62, seen: { failure: { kind: 'broken', reason: 'the connection broke (ECONNRESET by 10.9.8.7)' } } },
    ),
    known,
  );
  const [header, document, answer, failure] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(header).toEqual({
    format: 'scheduled-events-recording',
    version: 1,
    begunAt: '2026-01-01T00:00:00.250Z',
    endpoint: 'http://169.254.169.254',
    apiVersion: '2020-07-01',
    vm: {
      name: 'scale-set-0_3',
      scaleSet: 'scale-set-0',
      vmId: 'facade00-0000-4000-a000-000000000000',
      placementGroupId: '',
      subscriptionId: 'facade00-0000-4000-a000-000000000001',
      resourceGroup: 'Resource-group-0',
      location: 'westeurope',
      physicalZone: 'westeurope-az2',
      vmSize: 'Standard_D2s_v5',
      osType: 'Linux',
      image: { publisher: 'Canonical', offer: 'word-0-image', sku: 'server', version: '24.04.202504080' },
    },
  });
  expect(document).toEqual({
    atSeconds: 0.5,
    document: {
      DocumentIncarnation: 7,
      Events: [
        {
          EventId: 'FACADE00-0000-4000-A000-000000000002',
          EventStatus: 'Scheduled',
          EventType: 'Hibernate',
          ResourceType: 'VirtualMachine',
          Resources: ['scale-set-0_3', '_SCALE-SET-0_4', 'scale-set-1_a00000', 'vm-0'],
          NotBefore: 'Thu, 01 Jan 2026 00:15:00 GMT',
          Description: 'Virtual machine vm-0 is going to be restarted as requested by word-1 at 2026-01-01T00:00:00Z.',
          EventSource: 'User',
          DurationInSeconds: -1,
          Novelty: {
            severity: 'word-2',
            'field-0': 'word-1',
            'field-1': 'facade00-0000-4000-a000-000000000002',
            at: '2026-01-01T00:00:01.1234567Z',
            'field-2': 1767225600,
            'field-3': 1_000_000_000,
            limit: 12,
            isLive: true,
            Tags: {},
          },
        },
      ],
    },
  });
  expect(answer.answer).toEqual({
    status: 503,
    headers: { 'retry-after': '5', date: 'Thu, 01 Jan 2026 00:01:01 GMT' },
    body: '{"error":"word-3 scale-set-0_4 at 192.0.2.1"}',
  });
  expect(failure.failure).toEqual({ kind: 'broken', reason: 'the connection broke (ECONNRESET by 192.0.2.1)' });
  expect(removed).toEqual(['contents of Tags', 'header server', 'header x-ms-request-id']);
  expect(replaced).toMatchObject({ guid: 3, 'scale-set': 2, vm: 1, 'resource-group': 1, address: 1, number: 1 });
});

test('the names of the format stay where a VM is called like them', () => {
  const { text } = anonymise(
    recording(
      { name: 'Freeze', scaleSet: null },
      {
        atSeconds: 1,
        seen: {
          document: { DocumentIncarnation: 1, Events: [{ ...event, EventType: 'Freeze', Resources: ['Freeze'] }] },
        },
      },
    ),
  );
  const { EventType, Resources } = JSON.parse(text.split('\n')[1] ?? '').document.Events[0];
  expect({ EventType, Resources }).toEqual({ EventType: 'Freeze', Resources: ['Vm-0'] });
});

test('the sentences of Azure stay as they are', () => {
  const descriptions = readTree('src/azure-simulator/{imds/wire,scenarios/*}.ts');
  const sentences = [...descriptions.values()].flatMap(
    (code) => code.match(/'[A-Z][^'\n]*irtual machine [^'\n]*\.'/g) ?? [],
  );
  expect(sentences.length).toBeGreaterThan(6);
  const events = sentences.map((text) => ({ ...event, Description: text.slice(1, -1) }));
  const { text } = anonymise(
    recording(null, { atSeconds: 0, seen: { document: { DocumentIncarnation: 1, Events: events } } }),
  );
  const kept = JSON.parse(text.split('\n')[1] ?? '').document.Events.map(
    ({ Description }: typeof event) => Description,
  );
  expect(kept).toEqual(events.map(({ Description }) => Description));
});

test('a file that is no recording is named', () => {
  expect(() => anonymise('{}')).toThrow('the recording, line 1 is not the header of a recording');
});

const sentence = (name: string): string =>
  `Virtual machine ${name} is going to be redeployed because of maintenance of its host, error on ${name}${name}.`;

/** Words of the format, of Azure's sentences and of pseudonyms are in every recording, and look like names. */
const common = `${sentence('')} vm-0 scale-set-0 resource-group-0 host-0 identity-0 user-0@example.invalid resource-0 word-0 field-0 base64-0
  ${anonymise(
    recording(
      { ...vm, tags: {} },
      { atSeconds: 0, seen: { document: { DocumentIncarnation: 1, Events: [event] } } },
      { atSeconds: 2, seen: { answer: { status: 503, headers: { location: '' }, body: '[]' } } },
      { atSeconds: 3, seen: { failure: { kind: 'broken', reason: '' } } },
    ),
  ).text.toLowerCase()}`;

/** As names of resources may be, and as they may not. */
const name = fc
  .oneof(
    fc.stringMatching(/^[a-z][a-z0-9-]{3,14}$/),
    fc.stringMatching(/^[A-Za-z0-9_.()-]{4,20}$/),
    fc.string({ unit: 'grapheme', minLength: 4, maxLength: 12 }),
    fc.constantFrom(
      'a.b*c+d?',
      '(prod)|[x]',
      '$&$1\\d{2}',
      'straße-Ünïté',
      '日本語サーバ',
      'O"Hara & sons',
      "jo's <box>",
      'web 100%25',
    ),
  )
  .filter(
    (text) =>
      text.trim() === text && /[\p{L}\p{N}]/u.test(text) && !common.includes(text.normalize('NFKC').toLowerCase()),
  );

/** The ways in which a name gets into a document unforeseen. */
const encodings: readonly ((name: string) => string)[] = [
  sentence,
  (text) => text.toUpperCase(),
  (text) => `https://portal.azure.com/#view/x?name=${encodeURIComponent(text)}&y=1`,
  (text) => encodeURIComponent(encodeURIComponent(text)),
  (text) => Buffer.from(JSON.stringify({ vm: text })).toString('base64'),
  (text) => Buffer.from(`Restart-VM ${text}`).toString('base64url'),
  (text) => Buffer.from(`Restart-VM -Name ${text}`, 'utf16le').toString('base64'),
  (text) => JSON.stringify({ inner: JSON.stringify({ text }) }),
  (text) => [...Buffer.from(text, 'utf16le').swap16().toString('hex')].join('').replace(/.{4}/g, '\\u$&'),
  (text) => `<p>${[...text].map((character) => `&#${character.codePointAt(0)};`).join('')}</p>`,
  (text) => `${text}@${text}.onmicrosoft.com`,
];

const planted = fc.record({
  names: fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
  isKnown: fc.boolean(),
  encoding: fc.nat({ max: encodings.length - 1 }),
  guid: fc.uuid(),
  address: fc.ipV4(),
  mail: fc.stringMatching(/^[a-z]{5,9}\.[a-z]{5,9}@[a-z]{6,9}\.(com|org)$/),
});

test('nothing that is planted anywhere in a recording is left, known beforehand or not', () => {
  fc.assert(
    fc.property(planted, ({ names, isKnown, encoding, guid, address, mail }) => {
      // A name may be a part of another.
      const all = [...names, `${names[0]}-two`, `${names[0]}_7`];
      const encode = encodings[encoding] ?? sentence;
      const text = all.map(encode).join(' ');
      const text2 = `${text}, ${guid} of ${mail} at ${address}`;
      const original = recording(
        { name: all[0] ?? '', scaleSet: all[1] ?? null, resourceGroup: all.at(-1), tags: { [all[0] ?? '']: mail } },
        {
          atSeconds: 1,
          seen: {
            document: {
              DocumentIncarnation: 1,
              Events: [
                {
                  ...event,
                  EventId: guid,
                  Resources: all,
                  Description: text2,
                  Novelty: { [mail]: text2, deep: [{ [guid]: all }] },
                },
              ],
            },
          },
        },
        { atSeconds: 2, seen: { answer: { status: 500, headers: { location: text2, 'x-y': text2 }, body: text2 } } },
        { atSeconds: 3, seen: { answer: { status: 500, headers: {}, body: JSON.stringify([text2, { [text2]: 1 }]) } } },
        { atSeconds: 4, seen: { failure: { kind: 'broken', reason: text2 } } },
      );
      const made = anonymise(original, isKnown ? all.map((name) => ({ kind: 'vm', name })) : []).text;
      expect(findLeaks(made, [...all, guid, mail, ...mail.split('@')])).toEqual([]);
      expect(readRecording('again', made).changes.map(({ atSeconds }) => atSeconds)).toEqual([1, 2, 3, 4]);
    }),
    { numRuns: 60 },
  );
});

test('equal names stay equal and different ones different', () => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 2, maxLength: 8 }), (names) => {
      const original = recording(null, {
        atSeconds: 1,
        seen: { document: { DocumentIncarnation: 1, Events: [{ ...event, Resources: names }] } },
      });
      const { Resources } = JSON.parse(anonymise(original).text.split('\n')[1] ?? '').document.Events[0];
      const sameness = (list: readonly string[]): readonly number[] => {
        const all = list.map((entry) => entry.normalize('NFC').toLowerCase());
        return all.map((entry) => all.indexOf(entry));
      };
      expect(sameness(Resources)).toEqual(sameness(names));
    }),
    { numRuns: 40 },
  );
});
