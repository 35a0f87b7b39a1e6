import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { runBridge } from '../src/bridge.ts';
import { thisMachine } from '../src/cli/service/machine.ts';
import { systemClock } from '../src/clock.ts';
import { readConfig } from '../src/config/read-config.ts';
import type { Config } from '../src/config.ts';
import { openHost } from '../src/host/index.ts';
import { silentLog } from '../src/log.ts';
import { openOutbox } from '../src/outbox/durable-outbox.ts';
import { OutboxInUse } from '../src/outbox/store/errors.ts';
import { inThisProcess } from '../src/sender/senders.ts';
import { configurationFor, temporaryDirectory } from './support/bridge-process.ts';
import { hubRecords, tableRows } from './support/delivered.ts';
import { type LocalAzure, startLocalAzure } from './support/local-azure.ts';
import { observerNamed } from './support/observations.ts';
import { sampleRecord } from './support/sample-record.ts';
import { until } from './support/until.ts';

describe('the complete bridge in one process', () => {
  let local: LocalAzure;
  beforeAll(async () => {
    local = await startLocalAzure({ vms: [{ name: 'web_0' }, { name: 'web_1' }] });
  });
  afterAll(() => local.close());

  function configOf(vm: string, directory: string, more: Record<string, unknown> = {}): Config {
    const value = configurationFor(local.azure, vm, directory, more);
    const documents = [{ value, source: 'the test', keepsSecrets: true }];
    const { config, problems } = readConfig({ documents, env: {}, defaultStateDirectory: directory });
    if (!config) throw new Error(problems.join(' '));
    return config;
  }
  const run = (config: Config, stop: AbortSignal): Promise<void> =>
    runBridge({ config, clock: systemClock, log: silentLog, stop, openSenders: inThisProcess });

  test('two bridges with different configurations do not affect each other', async () => {
    using zero = temporaryDirectory('two-0');
    using one = temporaryDirectory('two-1');
    const { azure } = local;
    const stop = new AbortController();
    const bridges = [
      run(configOf('web_0', zero.path), stop.signal),
      run(
        configOf('web_1', one.path, { scope: { witnessRate: 1 }, imds: { endpoint: azure.imds.vmUrl('web_1') } }),
        stop.signal,
      ),
    ];
    await until(() => ['web_0', 'web_1'].every((vm) => (azure.imds.polls[vm] ?? 0) > 1), { what: 'polls of both' });
    const notBefore = new Date(Date.now() + 900_000);
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore });
    await until(() => hubRecords(azure).length === 2 && tableRows(azure).length === 2, { what: 'both records' });
    const seen = hubRecords(azure).map(({ vmName, observerAffected }) => `${vmName} ${observerAffected}`);
    expect(seen.sort()).toEqual(['web_0 true', 'web_1 false']);
    expect(new Set(hubRecords(azure).map(({ transitionId }) => transitionId)).size).toBe(1);
    azure.imds.remove(eventId);
    stop.abort();
    await Promise.all(bridges);
  });

  test('a state directory in use is refused, and its bridge continues', async () => {
    using directory = temporaryDirectory('in-use');
    const stop = new AbortController();
    const config = configOf('web_0', directory.path);
    const first = run(config, stop.signal);
    await expect(run(config, stop.signal)).rejects.toThrow(OutboxInUse);
    const before = local.azure.imds.polls.web_0 ?? 0;
    await until(() => (local.azure.imds.polls.web_0 ?? 0) > before, { what: 'a poll of the first' });
    stop.abort();
    await first;
  });

  const ways = [
    { name: 'reaches the metadata service', more: {}, reach: { kind: 'connected' } },
    {
      name: 'does not reach it',
      more: { imds: { endpoint: 'http://127.0.0.1:1' } },
      reach: { kind: 'no-connection', reason: expect.stringContaining('Nothing listens at http://127.0.0.1:1:') },
    },
  ];
  test.each(ways)('the service that $name answers the installer so', async ({ more, reach }) => {
    using directory = temporaryDirectory('greeted');
    const stop = new AbortController();
    const running = run(configOf('web_0', directory.path, more), stop.signal);
    const { ping } = thisMachine({ env: {}, print: () => {}, stop: stop.signal });
    const answered = async () => {
      const answer = await ping(directory.path);
      return answer.ok && answer.reach.kind !== 'waiting' && answer;
    };
    expect(await until(answered, { what: 'its answer' })).toEqual({ ok: true, reach });
    stop.abort();
    await running;
  });

  test('what an earlier run left is sent also while the metadata service does not answer the first poll', async () => {
    using directory = temporaryDirectory('silent-metadata');
    const clock = systemClock;
    const { bootId, close } = openHost({ clock });
    const options = { directory: directory.path, maxMegabytes: 8, clock, log: silentLog, version: '0.0.0' };
    const outbox = openOutbox({ ...options, sinks: ['event-hubs', 'log-analytics'] });
    const left = sampleRecord({ eventId: 'left-by-an-earlier-run', position: 1 });
    outbox.rememberObserver(observerNamed('web_0'), bootId());
    outbox.append({ ...outbox.state, position: 1 }, [left]);
    outbox.close();
    close();
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const imds = { endpoint: `http://127.0.0.1:${port}`, timeoutSeconds: 60, firstTimeoutSeconds: 60 };
    const stop = new AbortController();
    const running = run(configOf('web_0', directory.path, { imds }), stop.signal);
    const isSent = (): boolean => hubRecords(local.azure).some(({ eventId }) => eventId === left.eventId);
    await until(isSent, { what: 'the record that was left' });
    stop.abort();
    await running;
  });

  test('when it is stopped no connection is left', async () => {
    await until(() => local.azure.eventHubs.connections === 0, { what: 'the end of all connections' });
    expect(local.azure.errors).toEqual([]);
  });
});
