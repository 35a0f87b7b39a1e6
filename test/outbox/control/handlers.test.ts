import { describe, expect, test } from 'vitest';
import { outboxHandlers } from '../../../src/outbox/control/handlers.ts';
import { noProgress } from '../../../src/outbox/outbox.ts';
import { until } from '../../support/until.ts';
import { keepFileBusy } from '../busy-file.ts';
import { appendRecords, createHarness, type Harness, positions } from '../harness.ts';

function withOneDead(harness: Harness) {
  const outbox = harness.open();
  appendRecords(outbox, { count: 3 });
  outbox.settle('hub', [{ position: 1, state: 'dead', code: 'http-400', reason: 'no such column' }], noProgress);
  let changes = 0;
  const handlers = outboxHandlers(outbox, () => {
    changes += 1;
  });
  return { outbox, handlers, changes: () => changes };
}

const asked = [
  { verb: 'retry', argument: {}, message: '1 dead letter will be sent again, with the same id.', changed: 1 },
  {
    verb: 'retry',
    argument: { sink: 'table' },
    message: 'No dead letters. Pending deliveries: 3 (outbox retry --now sends them now).',
    changed: 0,
  },
  {
    verb: 'retry',
    argument: { sink: 'hub', position: 2 },
    message: 'No dead letter at position 2. Pending deliveries of all records: 2 (outbox retry --now sends them now).',
    changed: 0,
  },
  { verb: 'purge', argument: { state: 'dead' }, message: '1 delivery discarded.', changed: 1 },
  { verb: 'purge', argument: { state: 'pending' }, message: '5 deliveries discarded.', changed: 5 },
  {
    verb: 'purge',
    argument: { state: 'pending', position: 9 },
    message: 'No matching deliveries; nothing was changed.',
    changed: 0,
  },
] as const;

const refused = [
  { verb: 'retry', argument: null, message: /not understood/ },
  { verb: 'retry', argument: 'all', message: /not understood/ },
  { verb: 'retry', argument: { sink: 7 }, message: /not understood/ },
  { verb: 'retry', argument: { position: 1.5 }, message: /not understood/ },
  { verb: 'retry', argument: { sink: 'unknown' }, message: /no destination "unknown"; there is hub and table\./ },
  { verb: 'purge', argument: {}, message: /which state/ },
  { verb: 'purge', argument: { state: 'delivered' }, message: /which state/ },
  { verb: 'purge', argument: undefined, message: /which state/ },
] as const;

describe('requests of another process', () => {
  test.for(asked)('$verb $argument: $message', async ({ verb, argument, message, changed }) => {
    using harness = createHarness();
    const { handlers, changes } = withOneDead(harness);
    expect(await handlers[verb](argument)).toEqual({ ok: true, message, deliveries: changed });
    expect(changes()).toBe(changed > 0 ? 1 : 0);
  });

  test.for(refused)('$verb $argument, which is not a valid request, leaves the outbox unchanged', async (row) => {
    using harness = createHarness();
    const { outbox, handlers } = withOneDead(harness);
    const { verb, argument, message } = row;
    expect(await handlers[verb](argument)).toEqual({
      ok: false,
      message: expect.stringMatching(message),
      deliveries: 0,
    });
    expect(outbox.counters().hub).toMatchObject({ dead: 1, pending: 2, expired: 0 });
  });

  test('are refused with the reason while the disk takes no writes', async () => {
    using harness = createHarness();
    const { handlers } = withOneDead(harness);
    using _busy = held(keepFileBusy(harness.directory));
    const answer = await handlers.retry({});
    expect(answer).toEqual({
      ok: false,
      message: 'The disk takes no writes, so nothing can be changed: database is locked',
      deliveries: 0,
    });
  });

  test('purging a large backlog lets polling continue in between', async () => {
    using harness = createHarness();
    const outbox = harness.open({ sinks: ['hub'] });
    appendRecords(outbox, { count: 4_500 });
    await until(() => positions(outbox, 'hub', 10_000).length === 4_500);
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 0);
    const answer = await outboxHandlers(outbox).purge({ state: 'pending' });
    clearInterval(ticking);
    expect(answer).toMatchObject({ ok: true, message: '4500 deliveries discarded.' });
    expect(turns).toBeGreaterThan(0);
    expect(positions(outbox, 'hub')).toEqual([]);
  });
});

const held = (busy: { letGo(): void }): Disposable => ({ [Symbol.dispose]: () => busy.letGo() });
