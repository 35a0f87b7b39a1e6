import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { enableHandler, limitMs } from '../../src/extension/enable.ts';
import type { Handler } from '../../src/extension/handler.ts';
import { noLog, openHandlerLog } from '../../src/extension/handler-log.ts';
import { writeStatus } from '../../src/extension/status-file.ts';
import type { Machine } from '../../src/service/machine.ts';
import { Refusal } from '../../src/service/refusals.ts';
import { createHarness, refusalOf } from '../service/harness.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { createFakeClock, settled } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { settings } from './site.ts';
import { faultsOfStatus } from './status-rules.ts';

/** A handler whose limits are on a clock that the test owns, on a machine that does not end its work. */
function handlerOn(directory: string, machine: Machine) {
  const folder = join(directory, 'handler');
  for (const name of ['config', 'status']) mkdirSync(join(folder, name), { recursive: true });
  const environment = {
    logFolder: folder,
    configFolder: join(folder, 'config'),
    statusFolder: join(folder, 'status'),
  };
  writeFileSync(join(folder, 'HandlerEnvironment.json'), JSON.stringify([{ handlerEnvironment: environment }]));
  const given = { runtimeSettings: [{ handlerSettings: settings() }] };
  writeFileSync(join(folder, 'config/0.settings'), JSON.stringify(given));
  const clock = createFakeClock('2026-03-04T05:00:00.000Z');
  const handler: Handler = {
    machine,
    folder,
    env: { ConfigSequenceNumber: '0' },
    platform: 'linux',
    clock,
    log: noLog,
    askService: async () => ({ kind: 'nobody' }),
  };
  const status = () => {
    const text = readFileSync(join(folder, 'status/0.status'), 'utf8');
    expect(faultsOfStatus(text)).toEqual([]);
    return JSON.parse(text)[0];
  };
  return { handler, clock, status, folder };
}

const failureOf = (error: unknown) => ({ code: 22, message: error instanceof Error ? error.message : '' });

test('an installation that does not end is reported before the guest agent ends it, and its status is renewed until then', async () => {
  using harness = createHarness();
  using directory = temporaryDirectory('enable');
  const { places } = harness.machine.system;
  const never = { ...harness.machine.system, places, conditions: () => new Promise<never>(() => {}) };
  const { handler, clock, status, folder } = handlerOn(directory.path, { ...harness.machine, system: never });
  const enabled = refusalOf(enableHandler(handler, failureOf));
  await settled();
  expect(status()).toMatchObject({ timestampUTC: '2026-03-04T05:00:00Z', status: { status: 'transitioning' } });
  await clock.advance(121_000);
  expect(status()).toMatchObject({ timestampUTC: '2026-03-04T05:02:00Z', status: { status: 'transitioning' } });
  await clock.advance(limitMs);
  expect((await enabled).message).toMatch(/has not ended within 285 s.*next attempt.*continues it/);
  expect(status()).toMatchObject({
    status: { status: 'error', code: 22, configurationAppliedTime: '2026-03-04T05:00:00Z' },
  });
  expect(existsSync(join(folder, 'mrseq'))).toBe(false);
  expect(limitMs).toBeLessThan(300_000);
});

test('the wait for a service that starts is a part of the limit', async () => {
  using harness = createHarness();
  using directory = temporaryDirectory('enable');
  const { places } = harness.machine.system;
  let asked = 0;
  const machine: Machine = {
    ...harness.machine,
    system: {
      ...harness.machine.system,
      places,
      // First for the service, which is slow to answer, then for the installation.
      async conditions() {
        asked += 1;
        await clock.sleep(asked === 1 ? 60_000 : Number.POSITIVE_INFINITY);
        return { ...(await harness.machine.system.conditions()), isLive: false };
      },
    },
  };
  const { handler, clock, status, folder } = handlerOn(directory.path, machine);
  const at = { now: clock.now(), began: clock.now(), operation: 'Enable' } as const;
  writeStatus(join(folder, 'status'), 0, { status: 'success', code: 0, message: 'It runs.', substatuses: [] }, at);
  writeFileSync(join(folder, 'mrseq'), '0');
  const running = { folder: '1.0.0', unit: 'a', configuration: 'b' };
  mkdirSync(places.home, { recursive: true });
  writeFileSync(places.record, JSON.stringify({ ready: running, isSettled: true, previous: null, refused: null }));
  const enabled = refusalOf(enableHandler(handler, failureOf));
  await clock.advance(60_000);
  // The programs that are asked in between take time of this machine.
  await until(() => asked === 2);
  await clock.advance(limitMs - 60_000);
  expect([asked, (await enabled).message]).toEqual([2, expect.stringMatching(/has not ended within 285 s/)]);
  expect(status()).toMatchObject({ status: { status: 'error', code: 22 } });
});

test('an internal error is reported, and thrown', async () => {
  using harness = createHarness();
  using directory = temporaryDirectory('enable');
  const conditions = (): never => {
    throw new TypeError('an internal error');
  };
  const machine = { ...harness.machine, system: { ...harness.machine.system, conditions } };
  const { handler, status } = handlerOn(directory.path, machine);
  await expect(enableHandler(handler, failureOf)).rejects.toThrow('an internal error');
  expect(status().status).toMatchObject({ status: 'error', formattedMessage: { message: 'an internal error' } });
});

test('a status that cannot be written does not hide why enable failed', async () => {
  using harness = createHarness();
  using directory = temporaryDirectory('enable');
  const conditions = (): never => {
    throw new Refusal('unsupported', 'This machine cannot run it.');
  };
  const machine = { ...harness.machine, system: { ...harness.machine.system, conditions } };
  const { handler, folder } = handlerOn(directory.path, machine);
  // Nothing can be created in a file.
  rmSync(join(folder, 'status'), { recursive: true });
  writeFileSync(join(folder, 'status'), '');
  const { message } = await refusalOf(enableHandler(handler, failureOf));
  expect(message).toBe('This machine cannot run it.');
});

test('the log of the handler keeps two files of 1 MB, and fails nothing', () => {
  using directory = temporaryDirectory('log');
  const folder = join(directory.path, 'logs');
  const log = openHandlerLog(folder, () => new Date('2026-03-04T05:00:00Z'));
  log.write('first');
  expect(readFileSync(join(folder, 'handler.log'), 'utf8')).toBe('2026-03-04T05:00:00.000Z first\n');
  writeFileSync(join(folder, 'handler.log'), 'x'.repeat(1024 * 1024 + 1));
  log.write('second');
  expect(readFileSync(join(folder, 'handler.log'), 'utf8')).toBe('2026-03-04T05:00:00.000Z second\n');
  expect(readFileSync(join(folder, 'handler.1.log'), 'utf8')).toMatch(/^x+$/);
  writeFileSync(join(directory.path, 'file'), '');
  openHandlerLog(join(directory.path, 'file'), () => new Date()).write('nowhere');
});
