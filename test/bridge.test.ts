import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../src/azure-simulator/index.ts';
import { type Bridge, poll, pollOnce } from '../src/bridge.ts';
import { systemClock } from '../src/clock.ts';
import { openHost } from '../src/host/index.ts';
import { createImds } from '../src/imds/client.ts';
import { createObserverWatch } from '../src/imds/observer-watch.ts';
import { silentLog } from '../src/log.ts';
import { openOutbox } from '../src/outbox/durable-outbox.ts';
import { temporaryDirectory } from './support/bridge-process.ts';
import { observerNamed } from './support/observations.ts';

describe('one turn of the bridge', () => {
  let azure: AzureSimulator;
  beforeAll(async () => {
    azure = await startAzureSimulator();
  });
  afterAll(() => azure.close());

  const never = new AbortController().signal;
  function openBridge(directory: string): Bridge & { readonly close: () => Promise<void> } {
    const clock = systemClock;
    const outbox = openOutbox({
      directory,
      sinks: ['hub'],
      maxMegabytes: 16,
      clock,
      log: silentLog,
      version: '1.2.3',
    });
    const imds = createImds({
      endpoint: azure.imds.vmUrl('web_0'),
      apiVersion: '2020-07-01',
      timeoutMs: 2000,
      firstTimeoutMs: 2000,
      warm: () => true,
      clock,
    });
    const host = openHost({ clock });
    const observer = createObserverWatch({
      imds,
      configured: { tags: [] },
      computer: null,
      stored: observerNamed('web_0'),
      clock,
      log: silentLog,
    });
    const close = async (): Promise<void> => {
      await imds.close();
      host.close();
      outbox.close();
    };
    return {
      imds,
      host,
      observer,
      outbox,
      clock,
      scope: { witnessRate: 0 },
      gapAfterMs: 10_000,
      enablingMs: 0,
      bridgeVersion: '1.2.3',
      close,
    };
  }
  const inFifteenMinutes = (): Date => new Date(Date.now() + 900_000);

  test('an observation is in the outbox for every sink before it returns', async () => {
    using directory = temporaryDirectory('turn');
    const bridge = openBridge(directory.path);
    await pollOnce(bridge, never);
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: inFifteenMinutes() });
    const { records } = await pollOnce(bridge, never);
    expect(records.map(({ phase }) => phase)).toEqual(['Scheduled']);
    const [pending] = bridge.outbox.pending('hub', { limit: 10 });
    expect(JSON.parse(pending?.json.toString() ?? '{}')).toEqual(records[0]);
    azure.imds.remove(eventId);
    await bridge.close();
  });

  test('a poll without changes writes nothing', async () => {
    using directory = temporaryDirectory('quiet');
    const bridge = openBridge(directory.path);
    await pollOnce(bridge, never);
    const bytes = (): number => statSync(join(directory.path, 'outbox.sqlite-wal')).size;
    const before = bytes();
    for (let n = 0; n < 5; n += 1) expect((await pollOnce(bridge, never)).records).toEqual([]);
    expect(bytes()).toBe(before);
    await bridge.close();
  });

  test('after a restart the same document makes no record', async () => {
    using directory = temporaryDirectory('again');
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: inFifteenMinutes() });
    const before = openBridge(directory.path);
    expect((await pollOnce(before, never)).records).toHaveLength(1);
    await before.close();
    const after = openBridge(directory.path);
    expect((await pollOnce(after, never)).records).toEqual([]);
    azure.imds.remove(eventId);
    expect((await pollOnce(after, never)).records).toEqual([]);
    azure.imds.schedule({ eventType: 'Freeze', resources: ['web_9'], notBefore: inFifteenMinutes() });
    expect((await pollOnce(after, never)).records).toMatchObject([{ sequence: 2, position: 2 }]);
    await after.close();
  });

  test('an internal error about one document ends neither the loop nor the event', async () => {
    using directory = temporaryDirectory('mistake');
    const bridge = openBridge(directory.path);
    const stop = new AbortController();
    let turns = 0;
    const observe = bridge.imds.observe.bind(bridge.imds);
    const failing: Bridge = {
      ...bridge,
      imds: {
        ...bridge.imds,
        observe: async (signal) => {
          turns += 1;
          if (turns === 2) throw new TypeError('a mistake');
          if (turns === 4) stop.abort();
          return await observe(signal);
        },
      },
    };
    await poll(failing, {
      pollIntervalMs: 1,
      runtimeStats: { recordPoll: () => {}, recordPollFailure: () => {} },
      log: silentLog,
      stop: stop.signal,
    });
    expect(turns).toBe(4);
    expect(bridge.outbox.state.lastDocumentAt).not.toBeNull();
    await bridge.close();
  });

  test('the content of a document is not lost when an internal error ends its poll cycle', async () => {
    using directory = temporaryDirectory('lost-turn');
    const bridge = openBridge(directory.path);
    const stop = new AbortController();
    azure.imds.offerEtag(true);
    await pollOnce(bridge, never);
    const eventId = azure.imds.schedule({ eventType: 'Reboot', resources: ['web_0'] });
    let turns = 0;
    const evidence = bridge.host.evidence.bind(bridge.host);
    const failing: Bridge = {
      ...bridge,
      host: {
        ...bridge.host,
        evidence() {
          turns += 1;
          if (turns === 1) throw new TypeError('a mistake');
          if (turns === 3) stop.abort();
          return evidence();
        },
      },
    };
    const runtimeStats = { recordPoll: () => {}, recordPollFailure: () => {} };
    await poll(failing, { pollIntervalMs: 1, runtimeStats, log: silentLog, stop: stop.signal });
    expect(bridge.outbox.state.events.get(eventId.toLowerCase())).toMatchObject({ open: true });
    azure.imds.remove(eventId);
    azure.imds.offerEtag(false);
    await bridge.close();
  });

  test('a poll without an answer makes no records', async () => {
    using directory = temporaryDirectory('silent');
    const bridge = openBridge(directory.path);
    azure.imds.fault('scheduledevents', { status: 503 }, 1);
    expect(await pollOnce(bridge, never)).toMatchObject({
      pollResult: { kind: 'unavailable', code: 'http-503' },
      records: [],
    });
    await bridge.close();
  });
});
