import { chownSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addOutbox } from '../../../src/cli/outbox/command.ts';
import { outboxHandlers } from '../../../src/outbox/control/handlers.ts';
import { noProgress, type Outbox } from '../../../src/outbox/outbox.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { version } from '../../../src/process/version.ts';
import { appendRecords, createHarness, deliverAll, type Harness, positions } from '../../outbox/harness.ts';
import { serveRequests } from '../../support/serve-requests.ts';
import { runVerb } from './command-line.ts';

const outboxVerb = (harness: Harness, ...args: readonly string[]) => {
  const [sub = '', ...rest] = args;
  return runVerb(addOutbox, ['outbox', sub, '--state-directory', harness.directory, ...rest]);
};

const sinks = ['event-hubs', 'log-analytics'];

/** Three records: 1 delivered, 2 a dead letter of the table, 3 waiting for both. */
function filled(harness: Harness): Outbox {
  const outbox = harness.open({ sinks });
  appendRecords(outbox, { count: 2 });
  deliverAll(outbox, 'event-hubs');
  outbox.settle(
    'log-analytics',
    [
      { position: 1, state: 'delivered' },
      { position: 2, state: 'dead', code: 'http-400', reason: 'no column\n"Oops"' },
    ],
    noProgress,
  );
  appendRecords(outbox, { eventId: 'EVENT-2' });
  return outbox;
}

describe('outbox list, show and export', () => {
  test('is listed newest last, with what it failed of', async () => {
    using harness = createHarness();
    filled(harness);
    expect((await outboxVerb(harness, 'list')).out).toBe(
      [
        'POSITION  SINK           STATE    PHASE      OBSERVED AT               EVENT    FAILED TRIES  WHY',
        '       2  log-analytics  dead     Scheduled  2026-03-14T09:26:53.123Z  event-1             1  http-400: no column "Oops"',
        '       3  event-hubs     pending  Scheduled  2026-03-14T09:26:53.123Z  event-2             0  -',
        '       3  log-analytics  pending  Scheduled  2026-03-14T09:26:53.123Z  event-2             0  -',
        '',
      ].join('\n'),
    );
    expect((await outboxVerb(harness, 'list', '--state', 'dead', '--sink', 'event-hubs')).out).toBe('No records.\n');
    expect((await outboxVerb(harness, 'list', '--state', 'dead', '--sink', 'logAnalytics')).out).toMatch(
      /\n +2 {2}log-ana/,
    );
    expect((await outboxVerb(harness, 'list', '--limit', '1')).out).toMatch(
      /\n2 older ones are not shown: --limit shows more\.\n$/,
    );
  });

  test('is listed as JSON with the version of its form', async () => {
    using harness = createHarness();
    filled(harness);
    const { out } = await outboxVerb(harness, 'list', '--json', '--limit', '2');
    expect(JSON.parse(out)).toEqual({
      listVersion: 1,
      bridgeVersion: version,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      total: 3,
      entries: ['event-hubs', 'log-analytics'].map((sink) => ({
        position: 3,
        sink,
        state: 'pending',
        eventKey: 'event-2',
        phase: 'Scheduled',
        observedAt: '2026-03-14T09:26:53.123Z',
        attempts: 0,
        settledAt: null,
        code: null,
        reason: null,
      })),
    });
    expect(out.trimEnd()).not.toContain('\n');
    expect(JSON.parse((await outboxVerb(harness, 'list', '--json', '--event', 'none')).out)).toMatchObject({
      total: 0,
      entries: [],
    });
  });

  test.for([
    { args: ['--event', 'EVENT-2'], found: [3, 3] },
    { args: ['--type', 'freeze', '--sink', 'event-hubs'], found: [3] },
    { args: ['--type', 'reboot'], found: [] },
    { args: ['--vm', 'web_7', '--state', 'dead'], found: [2] },
    { args: ['--since', '2026-03-14T09:26:53.124Z'], found: [] },
    { args: ['--since', '2026-03-14', '--until', '2026-03-14T10:30+01:00'], found: [2, 3, 3] },
    { args: ['--since', '1m'], found: [] },
  ])('is found by $args', async ({ args, found }) => {
    using harness = createHarness();
    filled(harness);
    const { entries } = JSON.parse((await outboxVerb(harness, 'list', '--json', ...args)).out);
    expect(entries.map(({ position }: { position: number }) => position)).toEqual(found);
    const exported = (await outboxVerb(harness, 'export', ...args)).out.match(/"position":\d+/g) ?? [];
    expect(exported.map((text) => Number(text.slice(11)))).toEqual([...new Set(found)]);
  });

  test('is shown as JSON with its record', async () => {
    using harness = createHarness();
    filled(harness);
    const { out } = await outboxVerb(harness, 'show', '2');
    expect(JSON.parse(out)).toMatchObject({
      entryVersion: 1,
      position: 2,
      record: { recordId: 'record-2' },
      deliveries: [
        { sink: 'event-hubs', state: 'delivered' },
        { sink: 'log-analytics', state: 'dead', code: 'http-400' },
      ],
    });
    expect(await outboxVerb(harness, 'show', '9')).toMatchObject({
      reason: 'notDone',
      message: 'There is no record at position 9: the newest is 3.',
    });
  });

  test('is exported one record a line', async () => {
    using harness = createHarness();
    filled(harness);
    const exported = async (...args: readonly string[]): Promise<number[]> => {
      const { out } = await outboxVerb(harness, 'export', ...args);
      return out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).position);
    };
    expect(await exported()).toEqual([2, 3]);
    expect(await exported('--state', 'dead')).toEqual([2]);
    expect(await exported('--state', 'all')).toEqual([1, 2, 3]);
    expect(await exported('--state', 'delivered', '--sink', 'log-analytics')).toEqual([1]);
  });
});

const changes = [
  {
    args: ['retry', '--all'],
    message: '1 dead letter will be sent again, with the same id.',
    hub: [3],
    table: [2, 3],
    dead: 0,
  },
  {
    args: ['retry', '2'],
    message: '1 dead letter will be sent again, with the same id.',
    hub: [3],
    table: [2, 3],
    dead: 0,
  },
  {
    args: ['retry', '--all', '--sink', 'event-hubs'],
    message: 'No dead letters. Pending deliveries: 1 (outbox retry --now sends them now).',
    hub: [3],
    table: [3],
    dead: 1,
  },
  { args: ['purge', '--state', 'dead', '--yes'], message: '1 delivery discarded.', hub: [3], table: [3], dead: 0 },
  { args: ['purge', '--state', 'pending', '--yes'], message: '2 deliveries discarded.', hub: [], table: [], dead: 1 },
  {
    args: ['purge', '3', '--state', 'pending', '--sink', 'log-analytics', '--yes'],
    message: '1 delivery discarded.',
    hub: [3],
    table: [],
    dead: 1,
  },
  {
    args: ['purge', '2', '--state', 'pending'],
    message: 'No pending delivery at position 2.',
    hub: [3],
    table: [3],
    dead: 1,
  },
];

describe('outbox retry and purge', () => {
  test.for(changes)('are executed by the running service: $args', async ({ args, message, hub, table, dead }) => {
    using harness = createHarness();
    const outbox = filled(harness);
    await using _desk = serveRequests(outbox, outboxHandlers(outbox));
    expect(await outboxVerb(harness, ...args)).toEqual({ out: `${message}\n`, reason: null, message: '' });
    expect(positions(outbox, 'event-hubs')).toEqual(hub);
    expect(positions(outbox, 'log-analytics')).toEqual(table);
    expect(outbox.counters()['log-analytics']?.dead).toBe(dead);
  });

  test.for(changes)(
    'are executed by the command where none runs: $args',
    async ({ args, message, hub, table, dead }) => {
      using harness = createHarness();
      filled(harness).close();
      expect(await outboxVerb(harness, ...args)).toEqual({ out: `${message}\n`, reason: null, message: '' });
      const outbox = harness.open({ sinks });
      expect(positions(outbox, 'event-hubs')).toEqual(hub);
      expect(positions(outbox, 'log-analytics')).toEqual(table);
      expect(outbox.counters()['log-analytics']?.dead).toBe(dead);
      expect(harness.lines).toEqual([]);
    },
  );

  test('change nothing without a terminal to confirm on or --yes', async () => {
    using harness = createHarness();
    filled(harness).close();
    const { reason, message } = await outboxVerb(harness, 'purge', '--state', 'pending');
    expect(reason).toBe('usage');
    expect(message).toBe(
      '1 record that waits for Event Hubs and 1 record that waits for Log Analytics will be discarded permanently; outbox export --state pending saves them first. No terminal to confirm on; pass --yes.',
    );
    expect(readOutbox(harness.directory)?.sinks[0]?.counters.pending).toBe(1);
  });

  test('report a request that the service cannot execute', async () => {
    using harness = createHarness();
    const outbox = filled(harness);
    const desk = {
      requests: () => outbox.requests(),
      answer: (number: number, answer: unknown) => outbox.answer(number, answer),
      retryDeadLetters: () => 0,
      purge: () => 0,
      backlog: () => outbox.backlog(),
      storage: { fault: { kind: 'full' as const, code: 'sqlite-13', reason: 'no room', since: '' }, undurable: 0 },
    };
    await using _desk = serveRequests(desk, outboxHandlers(desk));
    expect(await outboxVerb(harness, 'retry', '--all')).toMatchObject({
      reason: 'notDone',
      message: 'The disk takes no writes, so nothing can be changed: no room',
    });
  });

  test.skipIf(process.getuid?.() !== 0)('by root leave no file of root in the directory of the service', async () => {
    using harness = createHarness();
    filled(harness).close();
    const nobodyUid = 65_534;
    for (const name of readdirSync(harness.directory)) chownSync(join(harness.directory, name), nobodyUid, nobodyUid);
    chownSync(harness.directory, nobodyUid, nobodyUid);
    for (const args of [['list'], ['retry', '--all'], ['purge', '--state', 'pending', '--yes']]) {
      expect(await outboxVerb(harness, ...args)).toMatchObject({ reason: null });
      const owners = readdirSync(harness.directory).map((name) => statSync(join(harness.directory, name)).uid);
      expect(new Set(owners)).toEqual(new Set([nobodyUid]));
    }
    expect(process.geteuid?.()).toBe(0);
  });
});

test.for([
  { args: ['retry'], reason: 'usage', message: /^Name what to retry: a POSITION/ },
  {
    args: ['retry', '--all', '--now'],
    reason: 'usage',
    message: /^--all and --now exclude each other: use one of them\.$/,
  },
  {
    args: ['retry', '2', '--all'],
    reason: 'usage',
    message: /^POSITION and --all exclude each other: use one of them\.$/,
  },
  { args: ['retry', '99'], reason: 'notDone', message: /^There is no record at position 99: the newest is 3\.$/ },
  {
    args: ['purge', '99', '--state', 'dead', '--yes'],
    reason: 'notDone',
    message: /^There is no record at position 99: the newest is 3\.$/,
  },
  { args: ['retry', '0'], reason: 'commander', message: /expected a position, 1 or more/ },
  { args: ['list', '--state', 'odd'], reason: 'commander', message: /Allowed choices are pending, dead/ },
  {
    args: ['list', '--sink', 'kafka'],
    reason: 'commander',
    message: /expected one of event-hubs, http, log-analytics, stdout\.$/,
  },
  {
    args: ['list', '--sink', 'stdout'],
    reason: 'usage',
    message: /^There is no destination "stdout"; there is event-hubs and log-analytics\.$/,
  },
  { args: ['list', '--since', 'yesterday'], reason: 'commander', message: /expected a time like 2026-01-31T09:00Z/ },
  { args: ['list', '--until', '2026-02-31T99:00Z'], reason: 'commander', message: /expected a time like/ },
  { args: ['purge'], reason: 'commander', message: /--state <state>' not specified/ },
  { args: ['show', 'two'], reason: 'commander', message: /expected a position/ },
])('$args is answered with what is wrong with it', async ({ args, reason, message }) => {
  using harness = createHarness();
  filled(harness);
  const ended = await outboxVerb(harness, ...args);
  expect(ended.reason).toBe(reason);
  expect(ended.message).toMatch(message);
});

test('an unknown destination is refused without an outbox, too', async () => {
  using harness = createHarness();
  expect(await outboxVerb(harness, 'list', '--sink', 'kafka')).toMatchObject({ reason: 'commander' });
});

test.for(['list', 'show', 'retry', 'purge', 'export'])('outbox %s has help with its exit codes', async (sub) => {
  const { out } = await runVerb(addOutbox, ['outbox', sub, '--help']);
  expect(out).toMatch(/--state-directory <directory>/);
  for (const code of [0, 1, 2, 21, 22, 76, 78]) expect(out).toMatch(new RegExp(`^ {2}${code} `, 'm'));
});

test.for(['list', 'show 1', 'retry --all', 'purge --state dead --yes', 'export'])(
  'outbox %s without an outbox reports that and creates none',
  async (command) => {
    using harness = createHarness();
    const [sub = '', ...rest] = command.split(' ');
    expect(await outboxVerb(harness, sub, ...rest)).toMatchObject({
      reason: 'noOutbox',
      message: expect.stringMatching(/^There is no outbox in /),
    });
    expect(readdirSync(harness.directory)).toEqual([]);
  },
);
