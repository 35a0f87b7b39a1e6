import { type AddressInfo, createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createEventHubsSink } from '../../src/sinks/event-hubs/sink.ts';
import { createLogAnalyticsSink } from '../../src/sinks/log-analytics/sink.ts';
import type { Sink } from '../../src/sinks/sink.ts';
import { sampleEntry } from '../support/sample-record.ts';

const credential = { getToken: async () => ({ token: 'token', expiresOnTimestamp: Date.now() + 86_400_000 }) };

const sinks: Readonly<Record<string, (port: number) => Sink>> = {
  'an event hub': (port) =>
    createEventHubsSink({
      config: {
        fullyQualifiedNamespace: 'simulated.servicebus.windows.net',
        connectionString: null,
        eventHubName: 'vm-lifecycle',
        customEndpoint: `sb://localhost:${port}`,
        transport: 'amqp',
        idleCloseSeconds: 60,
        connectJitterSeconds: 0,
      },
      credential,
      clock: systemClock,
    }),
  'a table': (port) =>
    createLogAnalyticsSink({
      config: { endpoint: `https://localhost:${port}`, ruleId: 'dcr-0', streamName: 'Custom-VmLifecycle_CL' },
      credential,
      clock: systemClock,
    }),
};

test.for(Object.keys(sinks))('%s that accepts connections and never answers is reported within 15 s', async (name) => {
  const accepted = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on('error', () => {}).resume();
    accepted.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const sink = sinks[name]?.((server.address() as AddressInfo).port);
  onTestFinished(async () => {
    vi.useRealTimers();
    await sink?.close();
    server.close();
  });
  let code: string | null = null;
  void sink?.send([sampleEntry()], new AbortController().signal).then((result) => {
    code = result.kind === 'delivered' ? result.kind : result.code;
  });
  await accepted.promise;
  let passedMs = 0;
  for (; code === null && passedMs < 30_000; passedMs += 100) {
    await vi.advanceTimersByTimeAsync(100);
    await turn();
  }
  expect(code).toMatch(/timeout$/);
  expect(passedMs).toBeLessThan(14_000);
});
