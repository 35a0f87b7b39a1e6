import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createErrorLog } from '../../../src/azure-simulator/errors.ts';
import { type ImdsSimulator, startImds } from '../../../src/azure-simulator/imds/server.ts';
import type { NewEvent, WireDocument, WireEvent } from '../../../src/azure-simulator/imds/wire.ts';
import { createTokenIssuer } from '../../../src/azure-simulator/token-issuer.ts';

/**
 * The samples of the documents, each as a client of its own that knows nothing of the simulator.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#python-sample
 */
const url = (): string => `${imds.url}/metadata/scheduledevents?api-version=2020-07-01`;
const headers = { Metadata: 'true' };

const query = async (): Promise<WireDocument> => (await fetch(url(), { headers })).json() as Promise<WireDocument>;

const approve = async (eventIds: readonly string[]): Promise<number> => {
  const body = JSON.stringify({ StartRequests: eventIds.map((EventId) => ({ EventId })) });
  return (await fetch(url(), { method: 'POST', headers, body })).status;
};

/** What the sample decides for itself: approve what users started themselves, and short freezes. */
const mayStartNow = ({ EventStatus, EventType, EventSource, DurationInSeconds }: WireEvent): boolean =>
  EventStatus === 'Scheduled' &&
  (EventSource === 'User' || (EventType === 'Freeze' && DurationInSeconds >= 0 && DurationInSeconds < 9));

/** One round of its loop: handles a document only when its number is another than the last one's. */
async function listen(lastIncarnation: number): Promise<{ incarnation: number; handled: readonly string[] }> {
  const { DocumentIncarnation: incarnation, Events } = await query();
  if (incarnation === lastIncarnation) return { incarnation, handled: [] };
  for (const { EventId } of Events.filter(mayStartNow)) expect(await approve([EventId])).toBe(200);
  return { incarnation, handled: Events.map(({ EventId }) => EventId) };
}

const log = createErrorLog();
let imds: ImdsSimulator;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ imds, close } = await startImds({ issuer: await createTokenIssuer(), log }));
});
beforeEach(() => imds.change((document) => document.Events.splice(0)));
afterAll(async () => {
  await close();
  expect(log.errors).toEqual([]);
});

describe('the sample that approves', () => {
  const cases: readonly (readonly [name: string, event: Partial<NewEvent>, starts: boolean])[] = [
    ['a freeze of 0 seconds', { eventType: 'Freeze', durationSeconds: 0 }, true],
    ['a freeze of 8 seconds', { eventType: 'Freeze', durationSeconds: 8 }, true],
    ['a freeze of 9 seconds', { eventType: 'Freeze', durationSeconds: 9 }, false],
    ['a freeze of unknown length', { eventType: 'Freeze', durationSeconds: -1 }, false],
    ['a reboot by the platform', { eventType: 'Reboot' }, false],
    ['a reboot by a user', { eventType: 'Reboot', eventSource: 'User' }, true],
    ['a redeploy by a user', { eventType: 'Redeploy', eventSource: 'User' }, true],
    ['an eviction', { eventType: 'Preempt' }, false],
  ];
  test.each(cases)('handles %s', async (_, event, starts) => {
    const eventId = imds.schedule({ eventType: 'Freeze', resources: ['web_0', 'web_1'], ...event });
    await listen(0);
    expect(imds.find(eventId)?.EventStatus).toBe(starts ? 'Started' : 'Scheduled');
    expect(imds.approvals.some((approval) => approval.eventId === eventId)).toBe(starts);
  });

  test('starts an event for all of its VMs', async () => {
    const eventId = imds.schedule({ eventType: 'Freeze', resources: ['web_0', 'web_1'] });
    await listen(0);
    expect(imds.issued.at(-1)).toMatchObject({ eventId, step: 'started', resources: ['web_0', 'web_1'] });
  });
});

test('the sample that polls by incarnation handles each document once', async () => {
  const eventId = imds.schedule({ eventType: 'Reboot', resources: ['web_0'] });
  const first = await listen(0);
  const again = await listen(first.incarnation);
  imds.start(eventId);
  const later = await listen(again.incarnation);
  imds.remove(eventId);
  const last = await listen(later.incarnation);
  expect([first, again, later, last].map(({ handled }) => handled)).toEqual([[eventId], [], [eventId], []]);
  expect(last.incarnation).toBe(first.incarnation + 2);
});

test('the sample that lists sees the fields of the documents, dates as RFC 1123', async () => {
  imds.schedule({ eventType: 'Freeze', resources: ['web_0'] });
  const { Events } = await query();
  expect(Events).toEqual([
    {
      EventId: expect.stringMatching(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/),
      EventStatus: 'Scheduled',
      EventType: 'Freeze',
      ResourceType: 'VirtualMachine',
      Resources: ['web_0'],
      NotBefore: expect.stringMatching(/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/),
      Description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
      EventSource: 'Platform',
      DurationInSeconds: 5,
    },
  ]);
});
