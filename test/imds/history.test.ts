import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Bridge, pollOnce } from '../../src/bridge.ts';
import type { Clock } from '../../src/clock.ts';
import { createImds } from '../../src/imds/client.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';
import { createHarness } from '../outbox/harness.ts';
import { observerNamed } from '../support/observations.ts';
import { http, type RawAnswer, startRawServer } from './raw-server.ts';

const never = new AbortController().signal;
const incarnation = (number: number, events: readonly object[]) => ({
  etag: `"${number}"`,
  body: JSON.stringify({ DocumentIncarnation: number, Events: events }),
});
const freeze = {
  EventId: 'AAAA',
  EventType: 'Freeze',
  ResourceType: 'VirtualMachine',
  Resources: ['web_0'],
  EventStatus: 'Scheduled',
  NotBefore: '',
  EventSource: 'Platform',
  DurationInSeconds: 5,
};

/** A metadata service that answers 304 to who has its document, as it does for days on end. */
const serving =
  ({ etag, body }: ReturnType<typeof incarnation>): RawAnswer =>
  (socket, request) =>
    request.headers['if-none-match'] === etag
      ? http(304)(socket, request)
      : http(200, body, { ETag: etag })(socket, request);

function bridgeOf(outbox: Outbox, clock: Clock, url: string): Bridge {
  const observer = observerNamed('web_0');
  return {
    imds: createImds({
      endpoint: url,
      apiVersion: '2020-07-01',
      timeoutMs: 5_000,
      firstTimeoutMs: 5_000,
      warm: () => true,
      clock,
    }),
    host: {
      evidence: () => ({ bootId: 'boot-1', physicalHost: null, tick: null, wallStepMs: 0 }),
      bootId: () => 'boot-1',
      watchImpact: () => {},
      discountOwnWork: () => {},
      close: () => {},
    },
    observer: {
      known: () => observer,
      fresh: () => true,
      refresh: () => {},
      onRead: () => () => {},
      run: async () => {},
    },
    scope: { witnessRate: 0 },
    outbox,
    clock,
    gapAfterMs: 10_000,
    enablingMs: 0,
    bridgeVersion: '1.2.3',
  };
}

test('a state restored late decides on a complete document, not on one that was decided without it', async () => {
  await using server = await startRawServer();
  using harness = createHarness();
  const [state, stash] = [join(harness.directory, 'state'), join(harness.directory, 'stash')];
  mkdirSync(state);

  server.answer(serving(incarnation(5, [freeze])));
  const before = harness.open({ directory: state });
  const seeing = bridgeOf(before, harness.clock, server.url);
  await pollOnce(seeing, never);
  expect(before.state.events.get('aaaa')?.open).toBe(true);
  await seeing.imds.close();
  before.close();

  // Two days later its disk is mounted only after the start, and the event is gone.
  renameSync(state, stash);
  writeFileSync(state, '');
  harness.clock.stepWall(2 * 24 * 3_600_000);
  server.answer(serving(incarnation(6, [])));
  const after = harness.open({ directory: state });
  const bridge = bridgeOf(after, harness.clock, server.url);
  await pollOnce(bridge, never);
  expect((await pollOnce(bridge, never)).pollResult.kind).toBe('unchanged');
  rmSync(state);
  renameSync(stash, state);
  await harness.clock.advance(6_000);
  await pollOnce(bridge, never);
  expect(after.state.events.get('aaaa')?.open).toBe(true);

  expect((await pollOnce(bridge, never)).pollResult.kind).toBe('document');
  for (let minute = 0; minute < 10; minute += 1) {
    await harness.clock.advance(60_000);
    await pollOnce(bridge, never);
  }
  expect(after.state.events.get('aaaa')?.open).toBe(false);
  await bridge.imds.close();
});
