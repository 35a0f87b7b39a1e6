import { expect, test } from 'vitest';
import { addOutbox } from '../../../src/cli/outbox/command.ts';
import { createTryNow } from '../../../src/cli/outbox/try-now.ts';
import { createRig, observe } from '../../outbox/rig.ts';
import { openRig, seconds } from '../../relay/rig.ts';
import { delivered, forbidden } from '../../relay/scripted-sink.ts';
import { runVerb } from './command-line.ts';

test('what waits is sent at once, however long the destination was to be left alone', async () => {
  let isGranted = false;
  const rig = openRig();
  rig.sink.does(() => (isGranted ? delivered : forbidden));
  rig.append('E1');
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const { waitMs } = await rig.drain();
    if (attempt < 5) await rig.clock.advance(waitMs);
  }
  const [last = 0] = seconds(rig).slice(-1);
  isGranted = true;
  await rig.clock.advance(5_000);
  const tryNow = createTryNow(rig.outbox, new Map([[rig.sink.name, rig.relay]]));
  expect(tryNow({})).toEqual({ ok: true, says: expect.stringMatching(/^Trying now: 1 for .*status shows/) });
  await rig.drain();
  expect(rig.counters()).toMatchObject({ pending: 0, delivered: 1 });
  expect(seconds(rig).at(-1)).toBe(last + 5);
  expect(tryNow({})).toEqual({ ok: true, says: 'Nothing is waiting for delivery.' });
  expect(tryNow({ sink: 'nobody' })).toEqual({ ok: false, says: 'There is no destination "nobody".' });
  rig.close();
});

test('where no service runs it is said that the next start tries by itself', async () => {
  using rig = createRig();
  const outbox = rig.open({ sinks: ['event-hubs'] });
  observe(outbox);
  outbox.close();
  const args = ['outbox', 'retry', '--now', '--state-directory', rig.directory];
  expect(await runVerb(addOutbox, args)).toMatchObject({
    reason: 'notDone',
    says: 'No service runs, so nothing can be sent: start it, and it tries at once.',
  });
});
