import { expect, test } from 'vitest';
import { type Recording, readRecording } from '../../../src/azure-simulator/recording/read-recording.ts';
import { writeChange, writeHeader } from '../../../src/recording/format.ts';

const header = {
  begunAt: new Date('2026-11-21T09:00:00.000Z'),
  endpoint: 'http://169.254.169.254',
  apiVersion: '2020-07-01',
  vm: { name: 'web_0', zone: '2', scaleSet: null },
};
const entry = {
  EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  EventStatus: 'Scheduled',
  EventType: 'Freeze',
  ResourceType: 'VirtualMachine',
  Resources: ['web_0'],
  NotBefore: 'Sat, 21 Nov 2026 09:15:00 GMT',
  Description: '',
  EventSource: 'Platform',
  DurationInSeconds: 5,
  Novelty: { of: 'a later version' },
};
const recording: Recording = {
  header,
  changes: [
    { atSeconds: 0.01, seen: { document: { DocumentIncarnation: 7, Events: [entry] } } },
    { atSeconds: 5, seen: { answer: { status: 503, headers: { 'retry-after': '5' }, body: 'busy' } } },
    { atSeconds: 7.5, seen: { failure: { kind: 'no-answer', reason: 'no answer came in 10 s' } } },
  ],
};

const written = ({ header, changes }: Recording): string => [writeHeader(header), ...changes.map(writeChange)].join('');
const lines = written(recording).split('\n');

test('a recording is read as it was written', () => {
  expect(readRecording('r.jsonl', written(recording))).toEqual(recording);
  const unknown = { ...recording, header: { ...header, vm: null } };
  expect(readRecording('r.jsonl', written(unknown))).toEqual(unknown);
});

const first = lines[0] ?? '';
const bad: readonly { name: string; content: string; message: string }[] = [
  { name: 'an empty file', content: '', message: 'r.jsonl, line 1 is not the header of a recording' },
  { name: 'another file', content: '{"a":1}\n', message: 'r.jsonl, line 1 is not the header of a recording; expected' },
  {
    name: 'a recording of the future',
    content: first.replace('"version":1', '"version":2'),
    message: 'line 1 is 2; expected',
  },
  { name: 'a header without its time', content: first.replace('begunAt', 'begun'), message: 'unknown field "begun"' },
  {
    name: 'a wrong time',
    content: first.replace('2026-11-21T', 'noon '),
    message: 'begunAt of r.jsonl, line 1 is "noon',
  },
  {
    name: 'a VM without a name',
    content: first.replace('"name":"web_0",', ''),
    message: 'vm in r.jsonl, line 1 has no name',
  },
  { name: 'nothing recorded', content: `${first}\n`, message: 'r.jsonl holds no change: there is nothing to replay' },
  { name: 'a line cut off', content: `${first}\n{"atSec`, message: 'r.jsonl, line 2 is not JSON; where a power cut' },
  {
    name: 'a change without its time',
    content: `${first}\n{"document":null}`,
    message: 'document of r.jsonl, line 2 is null',
  },
  {
    name: 'a change of nothing',
    content: `${first}\n{"atSeconds":1}`,
    message: 'r.jsonl, line 2 holds no document, no answer',
  },
  {
    name: 'a document without its number',
    content: `${first}\n{"atSeconds":1,"document":{"Events":[]}}`,
    message: 'document of r.jsonl, line 2 is {"Events":[]}; expected a document with its incarnation and its events',
  },
  {
    name: 'an answer without status',
    content: `${first}\n{"atSeconds":1,"answer":{}}`,
    message: 'line 2 lacks a status',
  },
  { name: 'a failure of no kind', content: `${first}\n{"atSeconds":1,"failure":{}}`, message: 'line 2 lacks its kind' },
  {
    name: 'time that goes back',
    content: [first, lines[2], lines[1]].join('\n'),
    message: 'line 3 is earlier than the line',
  },
];

test.for(bad)('$name cannot be replayed, in one sentence with its line', ({ content, message }) => {
  expect(() => readRecording('r.jsonl', content)).toThrow(message);
});
