import { expect, test } from 'vitest';
import { addOutbox } from '../../../src/cli/outbox/command.ts';
import { createTryNow } from '../../../src/requests/try-now.ts';
import { appendRecords, createHarness } from '../../outbox/harness.ts';
import { openHarness, seconds } from '../../relay/harness.ts';
import { delivered, forbidden } from '../../relay/scripted-sink.ts';
import { runVerb } from './command-line.ts';

test('pending records are sent at once, however long the pause of the destination', async () => {
  let isGranted = false;
  const harness = openHarness();
  harness.sink.does(() => (isGranted ? delivered : forbidden));
  harness.append('E1');
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const waitMs = await harness.drain();
    if (attempt < 5) await harness.clock.advance(waitMs);
  }
  const [last = 0] = seconds(harness).slice(-1);
  isGranted = true;
  await harness.clock.advance(5_000);
  const tryNow = createTryNow(harness.outbox, new Map([[harness.sink.name, harness.relay]]));
  expect(tryNow({})).toEqual({
    ok: true,
    message: expect.stringMatching(/^Trying now: 1 for .*Run status to see the result/),
  });
  await harness.drain();
  expect(harness.counters()).toMatchObject({ pending: 0, delivered: 1 });
  expect(seconds(harness).at(-1)).toBe(last + 5);
  expect(tryNow({})).toEqual({ ok: true, message: 'Nothing is waiting for delivery.' });
  expect(tryNow({ sink: 'unknown' })).toEqual({ ok: false, message: 'There is no destination "unknown".' });
  harness.close();
});

test('without a service the message explains that the next start sends by itself', async () => {
  using harness = createHarness();
  const outbox = harness.open({ sinks: ['event-hubs'] });
  appendRecords(outbox);
  outbox.close();
  const args = ['outbox', 'retry', '--now', '--state-directory', harness.directory];
  expect(await runVerb(addOutbox, args)).toMatchObject({
    reason: 'notDone',
    message: 'No service is running, so nothing can be sent. Start it: it sends pending records at once.',
  });
});
