import { openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type StateSeen, seeState } from '../../../src/cli/check/see-state.ts';
import { stateFindings } from '../../../src/cli/check/state.ts';
import { Failure } from '../../../src/cli/exit-codes.ts';
import type { Facts } from '../../../src/cli/status/facts.ts';
import { readStatus, type Status } from '../../../src/cli/status/status.ts';
import { judge } from '../../../src/cli/status/verdict.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLog } from '../../../src/log.ts';
import { linux, windows } from '../../../src/operating-system.ts';
import { openOutbox } from '../../../src/outbox/durable-outbox.ts';
import type { Outbox } from '../../../src/outbox/outbox.ts';
import { OutboxTooNew } from '../../../src/outbox/store/errors.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';
import { linuxWords } from '../../support/linux-words.ts';
import { serveStatusOf } from '../../support/served-status.ts';
import { facts, poll, service, unanswered } from '../status/sample-status.ts';

const openIn = (directory: string): Outbox =>
  openOutbox({ directory, sinks: ['stdout'], maxMegabytes: 16, clock: systemClock, log: silentLog, version: '0.1.0' });
const read = async (directory: string): Promise<Status | Failure> => {
  try {
    return await readStatus(directory, { clock: systemClock, maxMegabytes: null });
  } catch (error) {
    return error as Failure;
  }
};
const inspect = async (directory: string, isAnswered: boolean | null = null) => {
  const on = { directory, status: await read(directory), isAnswered, system: linux };
  const found = stateFindings(seeState(directory), on);
  return { service: found[0], outbox: found.at(-1) };
};

test('before the first start there is nothing, and nothing is made', async () => {
  using directory = temporaryDirectory('check-state');
  expect(await inspect(directory.path)).toMatchObject({
    service: { verdict: 'ok', message: expect.stringMatching(/^No service has run/) },
    outbox: { verdict: 'ok', message: expect.stringMatching(/does not exist yet; the service creates it/) },
  });
  expect(readdirSync(directory.path)).toEqual([]);
});

test('an outbox is read while its service writes it, and afterwards', async () => {
  using directory = temporaryDirectory('check-state');
  const outbox = openIn(directory.path);
  expect(await inspect(directory.path)).toMatchObject({
    service: { verdict: 'warning', message: expect.stringMatching(/does not answer status requests/) },
    outbox: { verdict: 'ok', message: expect.stringMatching(/outbox\.sqlite is intact: 0 records/) },
  });
  const served = await serveStatusOf(outbox, directory.path);
  expect(await inspect(directory.path)).toMatchObject({
    service: {
      verdict: 'ok',
      message: expect.stringMatching(/^A service runs with .*; its last document is 0 s old\./),
    },
  });
  await served.close();
  outbox.close();
  expect((await inspect(directory.path)).service).toMatchObject({
    verdict: 'warning',
    message: expect.stringMatching(/^No service/),
  });
});

test('an outbox with one bad page is damaged, though its first page is sound', async () => {
  using directory = temporaryDirectory('check-state');
  openIn(directory.path).close();
  const path = join(directory.path, 'outbox.sqlite');
  const pages = readFileSync(path).length / 4096;
  writeSync(openSync(path, 'r+'), Buffer.alloc(4096, 0xff), 0, 4096, 4096 * (pages - 1));
  expect((await inspect(directory.path)).outbox).toMatchObject({
    verdict: 'problem',
    message: expect.stringMatching(/is damaged .*The service repairs it/),
    remedy: 'sudo systemctl start scheduled-events-bridge',
  });
});

test('an outbox that replaced a damaged one is a warning that names the quarantine folder', async () => {
  using directory = temporaryDirectory('check-state');
  writeFileSync(join(directory.path, 'outbox.sqlite'), 'no database');
  openIn(directory.path).close();
  expect((await inspect(directory.path)).outbox).toMatchObject({
    verdict: 'warning',
    message: expect.stringMatching(/is in .*corrupt-/),
  });
});

const none: StateSeen = { running: false, report: null, error: null };
const tooNew = new OutboxTooNew('/s/outbox.sqlite', 2, 1, '2.0.0');
const rows = [
  {
    name: 'the lock is not readable',
    seen: { ...none, running: null },
    what: 'state.service',
    verdict: 'not-proven',
    message: /may not see whether a service holds/,
  },
  {
    name: 'a service that could make no outbox',
    seen: { ...none, running: true },
    what: 'state.outbox',
    verdict: 'problem',
    message: /^A service was started with \/s, but there is no outbox in it/,
  },
  {
    name: 'a newer version wrote the outbox',
    seen: { ...none, error: tooNew },
    what: 'state.outbox',
    verdict: 'problem',
    message: /Install version 2\.0\.0/,
  },
];

test.for(rows)('the finding about the state file: $name', ({ seen, what, verdict, message }) => {
  const status = new Failure('noOutbox', 'There is no outbox.');
  const on = { directory: '/s', status, isAnswered: null, system: linux };
  const found = stateFindings(seen, on).find((one) => one.what === what);
  expect(found).toMatchObject({ verdict, message: expect.stringMatching(message) });
  expect(JSON.stringify(stateFindings(seen, { ...on, system: windows }))).not.toMatch(linuxWords);
});

const hangs = { code: 'timeout', reason: 'It did not answer within 10 s.' };
const blind = facts({ service: service({ poll: poll({ documentAgeSeconds: 30, failing: hangs }) }) });
const ofService: readonly {
  name: string;
  given: Facts;
  isAnswered?: boolean;
  what?: string;
  verdict: string;
  message: RegExp;
}[] = [
  {
    name: 'one that polls',
    given: facts(),
    verdict: 'ok',
    message: /\(pid 4711, version 1\.2\.3\); its last document is 0 s old/,
  },
  {
    name: 'one whose poll is late by more than three intervals',
    given: facts({ service: service({ poll: poll({ ageSeconds: 5, documentAgeSeconds: 5 }) }) }),
    verdict: 'warning',
    message: /the last poll ended 5 s ago/,
  },
  {
    name: 'one without documents, where this check has none either',
    given: blind,
    isAnswered: false,
    verdict: 'warning',
    message: /No document from the metadata service for 30 s: .* See imds\.document\.$/,
  },
  {
    name: 'one without documents, where this check gets them',
    given: blind,
    isAnswered: true,
    verdict: 'problem',
    message: /The metadata service answers this check, so the service is at fault/,
  },
  {
    name: 'one that does not answer',
    given: facts(unanswered('silent', true)),
    verdict: 'problem',
    message: /^Not responding/,
  },
  {
    name: 'one that this user may not query',
    given: facts(unanswered('denied', true)),
    verdict: 'not-proven',
    message: /may not query/,
  },
  {
    name: 'one of an older version',
    given: facts(unanswered('nobody', true)),
    verdict: 'warning',
    message: /does not answer status requests/,
  },
  {
    name: 'one that keeps records in memory',
    given: facts({
      service: service({
        inMemoryOnly: 3,
        storageTrouble: { since: '2026-03-14T09:00:00.000Z', code: 'EIO', reason: 'I/O' },
      }),
    }),
    what: 'state.memory',
    verdict: 'problem',
    message:
      /^Nothing could be written in \/s since 2026-03-14T09:00:00\.000Z: I\/O\. 3 in memory only: do not restart the service/,
  },
  {
    name: 'one whose records are all on disk',
    given: facts(),
    what: 'state.memory',
    verdict: 'ok',
    message: /^No record/,
  },
];

test.for(ofService)('a service: $name', ({ given, isAnswered = null, what = 'state.service', verdict, message }) => {
  const status = { verdict: judge(given, linux), ...given };
  const on = { directory: '/s', status, isAnswered, system: linux };
  const found = stateFindings(none, on).find((one) => one.what === what);
  expect(found).toMatchObject({ verdict, message: expect.stringMatching(message) });
  expect(JSON.stringify(stateFindings(none, { ...on, system: windows }))).not.toMatch(linuxWords);
});
