import { expect, onTestFinished, test, vi } from 'vitest';
import { createGroupDocument } from '../../../src/azure-simulator/imds/document.ts';
import type { Fault } from '../../../src/azure-simulator/imds/faults.ts';
import type { Recording } from '../../../src/azure-simulator/recording/read-recording.ts';
import { faultOf, replay, withNotBefore } from '../../../src/azure-simulator/recording/replay.ts';

const begunAt = new Date('2026-11-21T09:00:00.000Z');
const event = (given: object = {}) => ({
  EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  EventStatus: 'Scheduled',
  EventType: 'Freeze',
  ResourceType: 'VirtualMachine',
  Resources: ['web_0'],
  NotBefore: 'Sat, 21 Nov 2026 09:15:00 GMT',
  Description: '',
  EventSource: 'Platform',
  DurationInSeconds: 5,
  ...given,
});
const document = (incarnation: number, ...events: object[]) => ({
  document: { DocumentIncarnation: incarnation, Events: events as ReturnType<typeof event>[] },
});
const recordingOf = (...changes: Recording['changes']): Recording => ({
  header: { begunAt, endpoint: '', apiVersion: '2020-07-01', vm: null },
  changes,
});

/** A metadata service that only remembers. */
function stage() {
  const group = createGroupDocument();
  const shown: unknown[] = [];
  group.watch(() => shown.push(group.current));
  return {
    change: group.change,
    fault: (_: string, fault: Fault | null) => void shown.push(fault),
    shown,
    issued: group.issued,
  };
}

test('a recording is shown in its order, with its own numbers and ids, and its failures as faults', async () => {
  const recorded = recordingOf(
    { atSeconds: 0, seen: document(7) },
    { atSeconds: 1, seen: document(9, event({ NotBefore: '', EventStatus: 'Started', Novelty: 1 })) },
    { atSeconds: 2, seen: { answer: { status: 503, headers: {}, body: 'busy' } } },
    { atSeconds: 3, seen: { failure: { kind: 'broken', reason: 'ECONNRESET' } } },
    { atSeconds: 4, seen: document(9) },
    { atSeconds: 5, seen: document(3) },
  );
  const imds = stage();
  expect(await replay(imds, recorded, { speed: 1000 })).toBe(true);
  expect(imds.shown).toEqual([
    null,
    { DocumentIncarnation: 7, Events: [] },
    null,
    { DocumentIncarnation: 9, Events: [event({ NotBefore: '', EventStatus: 'Started', Novelty: 1 })] },
    { status: 503, headers: {}, body: 'busy' },
    'reset',
    null,
    { DocumentIncarnation: 9, Events: [] },
    null,
    { DocumentIncarnation: 3, Events: [] },
  ]);
  expect(imds.issued.map(({ step, incarnation }) => `${step} ${incarnation}`)).toEqual(['started 9', 'removed 9']);
});

test('a replay that is ended stops where it is', async () => {
  const end = new AbortController();
  const imds = stage();
  const recorded = recordingOf({ atSeconds: 0, seen: document(7) }, { atSeconds: 1e9, seen: document(8) });
  const over = replay(imds, recorded, { signal: end.signal, shown: () => end.abort() });
  expect(await over).toBe(false);
  expect(imds.shown).toEqual([null, { DocumentIncarnation: 7, Events: [] }]);
});

test.for([
  { speed: 1, notBefore: 'Fri, 01 Jan 2027 00:15:00 GMT' },
  { speed: 90, notBefore: 'Fri, 01 Jan 2027 00:00:10 GMT' },
])('a notice of 15 minutes is as long in a replay at speed $speed', async ({ speed, notBefore }) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2027-01-01T00:00:00.000Z') });
  onTestFinished(() => void vi.useRealTimers());
  const imds = stage();
  await replay(imds, recordingOf({ atSeconds: 0, seen: document(7, event()) }), { speed });
  expect(imds.shown[1]).toEqual({ DocumentIncarnation: 7, Events: [event({ NotBefore: notBefore })] });
});

test('NotBefore is moved in the format in which it is written, and is unchanged when it cannot be parsed', () => {
  const later = (time: Date): Date => new Date(time.getTime() + 60_000);
  const texts = ['Sat, 21 Nov 2026 09:15:00 GMT', '2026-11-21T09:15:00Z', '', 'soon'];
  const original = document(7, ...texts.map((NotBefore) => event({ NotBefore }))).document;
  expect(withNotBefore(original, later).Events.map(({ NotBefore }) => NotBefore)).toEqual([
    'Sat, 21 Nov 2026 09:16:00 GMT',
    '2026-11-21T09:16:00.000Z',
    '',
    'soon',
  ]);
  expect(original.Events.map(({ NotBefore }) => NotBefore)).toEqual(texts);
});

test('an answer that never came hangs again', () => {
  expect(faultOf({ failure: { kind: 'no-answer', reason: '' } })).toBe('hang');
});
