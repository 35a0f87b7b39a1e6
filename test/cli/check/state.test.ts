import { openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type StateSeen, seeState } from '../../../src/cli/check/see-state.ts';
import { stateFindings } from '../../../src/cli/check/state.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLog } from '../../../src/log.ts';
import { OutboxTooNew } from '../../../src/outbox/errors.ts';
import { type Outbox, openOutbox } from '../../../src/outbox/outbox.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';

const openIn = (directory: string): Outbox =>
  openOutbox({ directory, sinks: ['stdout'], maxMegabytes: 16, clock: systemClock, log: silentLog, version: '0.1.0' });
const now = new Date();
const look = (directory: string, isAnswered: boolean | null = null) => {
  const [service, outbox] = stateFindings(seeState(directory), { directory, now, isAnswered });
  return { service, outbox };
};

test('before the first start there is nothing, and nothing is made', () => {
  using directory = temporaryDirectory('check-state');
  expect(look(directory.path)).toMatchObject({
    service: { verdict: 'ok', says: expect.stringMatching(/^No service has run/) },
    outbox: { verdict: 'ok', says: expect.stringMatching(/^There is no outbox yet/) },
  });
  expect(readdirSync(directory.path)).toEqual([]);
});

test('an outbox is looked at while its service writes it, and after', () => {
  using directory = temporaryDirectory('check-state');
  const outbox = openIn(directory.path);
  expect(look(directory.path)).toMatchObject({
    service: { verdict: 'ok', says: expect.stringMatching(/^A service runs with .* has seen no document yet/) },
    outbox: { verdict: 'ok', says: expect.stringMatching(/outbox\.sqlite is sound: 0 records/) },
  });
  outbox.append({ ...outbox.state, lastDocumentAt: new Date(now.getTime() - 600_000).toISOString() }, []);
  expect(look(directory.path).service).toMatchObject({ verdict: 'warning', says: expect.stringMatching(/long ago/) });
  expect(look(directory.path, false).service?.verdict).toBe('warning');
  expect(look(directory.path, true).service).toMatchObject({
    verdict: 'problem',
    exit: 'needsPerson',
    says: expect.stringMatching(/although the metadata service answers: it hangs/),
    mend: 'sudo systemctl restart scheduled-events-bridge',
  });
  outbox.close();
  expect(look(directory.path).service).toMatchObject({
    verdict: 'warning',
    says: expect.stringMatching(/^No service/),
  });
});

test('an outbox with one bad page is damaged, though its first page is sound', () => {
  using directory = temporaryDirectory('check-state');
  openIn(directory.path).close();
  const path = join(directory.path, 'outbox.sqlite');
  const pages = readFileSync(path).length / 4096;
  writeSync(openSync(path, 'r+'), Buffer.alloc(4096, 0xff), 0, 4096, 4096 * (pages - 1));
  expect(look(directory.path).outbox).toMatchObject({
    verdict: 'problem',
    says: expect.stringMatching(/is damaged .*mends that by itself/),
    mend: 'sudo systemctl start scheduled-events-bridge',
  });
});

test('an outbox that took the place of a damaged one is a warning that says where that is', () => {
  using directory = temporaryDirectory('check-state');
  writeFileSync(join(directory.path, 'outbox.sqlite'), 'no database');
  openIn(directory.path).close();
  expect(look(directory.path).outbox).toMatchObject({
    verdict: 'warning',
    says: expect.stringMatching(/lies in .*corrupt-/),
  });
});

const none: StateSeen = { running: false, report: null, error: null };
const tooNew = new OutboxTooNew({ path: '/s/outbox.sqlite', wrote: '2.0.0', theirs: 2, ours: 1 });
const rows = [
  {
    name: 'the lock may not be looked at',
    seen: { ...none, running: null },
    what: 'state.service',
    verdict: 'not-proven',
    says: /cannot be seen by this account/,
  },
  {
    name: 'a service that could make no outbox',
    seen: { ...none, running: true },
    what: 'state.outbox',
    verdict: 'problem',
    says: /^A service was started with \/s, but there is no outbox in it/,
  },
  {
    name: 'a newer version wrote the outbox',
    seen: { ...none, error: tooNew },
    what: 'state.outbox',
    verdict: 'problem',
    says: /Install version 2\.0\.0/,
  },
];

test.for(rows)('what the state file proves: $name', ({ seen, what, verdict, says }) => {
  const found = stateFindings(seen, { directory: '/s', now, isAnswered: null }).find((one) => one.what === what);
  expect(found).toMatchObject({ verdict, says: expect.stringMatching(says) });
});
