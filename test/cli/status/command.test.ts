import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { addStatus } from '../../../src/cli/status/command.ts';
import type { Status } from '../../../src/cli/status/status.ts';
import { noProgress, type Outbox } from '../../../src/outbox/outbox.ts';
import { appendRecords, createHarness, deliverAll, type Harness } from '../../outbox/harness.ts';
import { observerNamed } from '../../support/observations.ts';
import { serveStatusOf } from '../../support/served-status.ts';
import { runVerb } from '../outbox/command-line.ts';

const status = (directory: string, ...more: readonly string[]) =>
  runVerb(addStatus, ['status', '--state-directory', directory, ...more]);
const json = async (directory: string): Promise<Status> => JSON.parse((await status(directory, '--json')).out);

/** An outbox with a document of just now, one open event and a record that the table refuses. */
function busy(harness: Harness): Outbox {
  const outbox = harness.open({ sinks: ['event-hubs', 'log-analytics'] });
  outbox.rememberObserver(observerNamed('web_3'), null);
  appendRecords(outbox, { eventId: 'EVENT-1' });
  outbox.append({ ...outbox.state, lastDocumentAt: new Date().toISOString(), incarnation: 7 }, []);
  outbox.intend({ eventId: 'EVENT-1', cause: 'by-hand', at: new Date() });
  const now = new Date().toISOString();
  outbox.settle('log-analytics', [{ position: 1, state: 'pending', code: 'http-403', reason: 'Grant the role.' }], {
    ...noProgress,
    step: 3,
    retryAt: now,
    lastErrorAt: now,
    lastErrorCode: 'http-403',
    lastErrorReason: 'Grant the role.',
  });
  deliverAll(outbox, 'event-hubs');
  return outbox;
}

const closing = (served: { close(): Promise<void> }) => ({ [Symbol.asyncDispose]: served.close });

test('the JSON has a stable shape, while the service runs and after it stopped', async () => {
  using harness = createHarness();
  const outbox = busy(harness);
  const served = await serveStatusOf(outbox, harness.directory);
  const running = await json(harness.directory);
  expect(running).toEqual({
    statusVersion: 1,
    verdict: {
      actionRequired: true,
      message: expect.stringMatching(/^Log Analytics has accepted nothing since .*: Grant the role\./),
      problems: [expect.any(String)],
      notes: [expect.stringMatching(/^The approval of EVENT-1/)],
    },
    at: expect.any(String),
    running: true,
    answer: 'answered',
    service: {
      version: '1.2.3',
      pid: process.pid,
      stopping: false,
      poll: {
        intervalSeconds: 1,
        answerSeconds: 10,
        isFirstAnswer: false,
        upSeconds: expect.any(Number),
        ageSeconds: expect.any(Number),
        documentAgeSeconds: expect.any(Number),
        failing: null,
      },
      stuck: [],
      inMemoryOnly: 0,
      storageTrouble: null,
      connectJitterSeconds: 0,
      senders: [],
    },
    stateDirectory: harness.directory,
    observer: {
      vmName: 'web_3',
      vmId: expect.any(String),
      resourceGroup: expect.anything(),
      location: expect.anything(),
    },
    document: {
      lastSeenAt: expect.any(String),
      ageSeconds: expect.any(Number),
      incarnation: 7,
      clockOffsetSeconds: null,
    },
    events: [
      {
        eventId: 'EVENT-1',
        eventType: 'Freeze',
        eventSource: 'Platform',
        phase: 'Scheduled',
        notBefore: null,
        firstSeenAt: '2026-01-01T00:00:00.000Z',
        startedAt: null,
        affectsThisVm: true,
        published: true,
      },
    ],
    sinks: [
      expect.objectContaining({ name: 'event-hubs', state: 'idle', waiting: 0, lastError: null }),
      {
        name: 'log-analytics',
        state: 'refused',
        waiting: 1,
        oldestWaitingAt: '2026-01-01T00:00:00.000Z',
        oldestAgeSeconds: expect.any(Number),
        lateSeconds: expect.any(Number),
        deadLetters: 0,
        retryAt: expect.any(String),
        lastSuccessAt: null,
        lastError: { at: expect.any(String), code: 'http-403', reason: 'Grant the role.' },
        counters: outbox.counters()['log-analytics'],
      },
    ],
    approvals: [{ eventId: 'EVENT-1', cause: 'by-hand', intendedAt: expect.any(String) }],
    outbox: {
      streamId: outbox.state.streamId,
      position: 1,
      bytes: expect.any(Number),
      maxBytes: null,
      freeBytes: expect.any(Number),
      readOnlyDisk: false,
      undecidedDocuments: 0,
      recovery: null,
    },
  });
  await served.close();
  outbox.close();
  const after = await json(harness.directory);
  expect(after).toMatchObject({
    running: false,
    answer: 'nobody',
    service: null,
    events: running.events,
    approvals: running.approvals,
  });
  expect(after.verdict.message).toMatch(/^Not running: /);
});

test('the page starts with the verdict, and the exit code shows whether operator action is required', async () => {
  using harness = createHarness();
  const outbox = busy(harness);
  await using _ = closing(await serveStatusOf(outbox, harness.directory));
  const refused = await status(harness.directory);
  expect(refused.out).toMatch(/^Log Analytics has accepted nothing since/);
  expect(refused.reason).toBe('actionRequired');
  deliverAll(outbox, 'log-analytics');
  expect(await status(harness.directory)).toMatchObject({
    out: expect.stringMatching(/^Running; both destinations are up to date\. Freeze of this VM at any moment\.\n/),
    reason: null,
  });
});

test('the answer of the service wins, even when its files are missing', async () => {
  using harness = createHarness();
  const outbox = busy(harness);
  await using _ = closing(await serveStatusOf(outbox, harness.directory));
  for (const name of readdirSync(harness.directory)) if (/sqlite/.test(name)) rmSync(join(harness.directory, name));
  expect(await json(harness.directory)).toMatchObject({ running: true, answer: 'answered', outbox: { position: 1 } });
});

test('a process that holds the directory and does not listen is not called well', async () => {
  using harness = createHarness();
  deliverAll(busy(harness), 'log-analytics');
  const { out, reason } = await status(harness.directory);
  expect(out).toMatch(/^Unknown: a process holds .* and does not answer status requests\./);
  expect(reason).toBe('actionRequired');
});

test('the configuration gives the path of the outbox and its quota', async () => {
  using harness = createHarness();
  busy(harness);
  const config = join(harness.directory, 'config.json');
  writeFileSync(
    config,
    JSON.stringify({ stateDirectory: harness.directory, outbox: { maxMegabytes: 32 }, sinks: { stdout: {} } }),
  );
  const { out } = await runVerb(addStatus, ['status', '--config', config, '--json']);
  expect(JSON.parse(out)).toMatchObject({ stateDirectory: harness.directory, outbox: { maxBytes: 32 * 2 ** 20 } });
  writeFileSync(config, '{"http":{"port":-1}}');
  expect(await runVerb(addStatus, ['status', '--config', config])).toMatchObject({
    reason: 'configuration',
    message: expect.stringMatching(/^The configuration is wrong: .* with --state-directory\.$/),
  });
});

test.for([
  {
    name: 'no outbox, where a service was',
    spoil: (harness: Harness) => rmSync(join(harness.directory, 'outbox.sqlite')),
    reason: 'noOutbox',
    message: /^A service was started with .*, but there is no outbox in it: .* Run check/,
  },
  {
    name: 'no outbox, where no service was',
    spoil: ({ directory }: Harness) => {
      for (const file of ['outbox.sqlite', 'lock.sqlite']) rmSync(join(directory, file));
    },
    reason: 'noOutbox',
    message: /^There is no outbox in .*: the bridge has not run with this state directory yet/,
  },
  {
    name: 'a file in the place of the state directory',
    spoil: ({ directory }: Harness) => {
      rmSync(directory, { recursive: true });
      writeFileSync(directory, '');
    },
    reason: 'noOutbox',
    message: /^There is no outbox in .*: it is a file, where the state directory should be\. Move it away/,
  },
  {
    name: 'an outbox that lacks a column',
    spoil: ({ directory }: Harness) => {
      const db = new DatabaseSync(join(directory, 'outbox.sqlite'));
      db.exec('ALTER TABLE approvals DROP COLUMN cause');
      db.close();
    },
    reason: 'noOutbox',
    message: /^The outbox in .* is damaged \(no such column: cause\): start or restart the bridge/,
  },
  {
    name: 'an outbox that is another program’s',
    spoil: (harness: Harness) =>
      writeFileSync(join(harness.directory, 'outbox.sqlite'), 'not a database '.repeat(1000)),
    reason: 'noOutbox',
    message: /^The outbox in .* is damaged \(.*\): start or restart the bridge/,
  },
  {
    name: 'an outbox of length zero',
    spoil: (harness: Harness) => writeFileSync(join(harness.directory, 'outbox.sqlite'), ''),
    reason: 'noOutbox',
    message: /is damaged/,
  },
  {
    name: 'an outbox of a newer major',
    spoil: (harness: Harness) => {
      const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
      db.exec('PRAGMA user_version = 2000');
      db.close();
    },
    reason: 'newerOutbox',
    message: /has format 2; this version reads format 1 and has not touched it\. Install/,
  },
])('$name is reported in one sentence', async ({ spoil, reason, message }) => {
  using harness = createHarness();
  harness.open().close();
  spoil(harness);
  const ended = await status(harness.directory);
  expect(ended).toMatchObject({ reason, out: '' });
  expect(ended.message).toMatch(message);
  expect(ended.message).not.toContain('\n');
});

test('a directory that is not there has no outbox, and is not made', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'status-'));
  expect(await status(join(directory, 'state'))).toMatchObject({ reason: 'noOutbox' });
  expect(existsSync(join(directory, 'state'))).toBe(false);
  rmSync(directory, { recursive: true });
});

test('help names every exit code that it can end with', async () => {
  const { out } = await runVerb(addStatus, ['status', '--help']);
  expect(out).toMatch(/--state-directory/);
  for (const code of [0, 1, 2, 20, 21, 22, 76, 78]) expect(out).toMatch(new RegExp(`^ {2}${code} `, 'm'));
});
