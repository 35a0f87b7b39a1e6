import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, type ImdsFault, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { type BridgeProcess, configurationFor, startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { hubRecords, recordLines } from '../support/delivered.ts';
import { until } from '../support/until.ts';

/** Every way not to answer, each while an event is open. `code`: as the log names it. */
const faults: readonly { readonly name: string; readonly fault: ImdsFault; readonly code: string }[] = [
  { name: '400', fault: { status: 400 }, code: 'http-400' },
  { name: '404', fault: { status: 404 }, code: 'http-404' },
  { name: '405', fault: { status: 405 }, code: 'http-405' },
  { name: '410', fault: { status: 410 }, code: 'http-410' },
  { name: '429 with Retry-After', fault: { status: 429, headers: { 'Retry-After': '2' } }, code: 'http-429' },
  { name: '500', fault: { status: 500 }, code: 'http-500' },
  { name: '503 with a long Retry-After', fault: { status: 503, headers: { 'Retry-After': '600' } }, code: 'http-503' },
  { name: 'no answer', fault: 'hang', code: 'timeout' },
  { name: 'a connection that is reset', fault: 'reset', code: 'connection-reset' },
  { name: 'an empty body with 200', fault: 'empty', code: 'empty-body' },
  { name: 'truncated JSON', fault: 'truncated', code: 'truncated' },
  { name: 'a body that is cut off', fault: 'cut-off', code: 'cut-off' },
  { name: 'no JSON', fault: 'not-json', code: 'not-json' },
  { name: 'a body of more than 10 MB', fault: 'huge', code: 'too-large' },
  { name: 'a redirect', fault: 'redirect', code: 'http-302' },
  { name: 'JSON without Events', fault: 'no-events', code: 'no-events' },
  { name: 'JSON without DocumentIncarnation', fault: 'no-incarnation', code: 'no-incarnation' },
];

describe('the endpoint fails in every way while an event is open', () => {
  let azure: AzureSimulator;
  let bridge: BridgeProcess;
  let eventId: string;
  const directory = temporaryDirectory('faults');
  beforeAll(async () => {
    azure = await startAzureSimulator();
    bridge = startBridge(
      configurationFor(azure, 'web_0', directory.path, {
        // Long enough for a body of more than 10 MB on a busy machine.
        imds: { endpoint: azure.imds.vmUrl('web_0'), timeoutSeconds: 5, firstTimeoutSeconds: 5 },
      }),
    );
    await until(() => (azure.imds.polls.web_0 ?? 0) > 1);
    eventId = azure.imds.schedule({
      eventType: 'Freeze',
      resources: ['web_0'],
      notBefore: new Date(Date.now() + 900_000),
    });
    azure.imds.start(eventId);
    await until(() => hubRecords(azure).length === 1);
  });

  afterAll(async () => {
    bridge.kill('SIGTERM');
    await bridge.exited;
    await azure.close();
    directory[Symbol.dispose]();
  });

  /** The answer after the next one proves that the bridge took the fault and went on. */
  async function pollTwice(): Promise<void> {
    const before = azure.imds.polls.web_0 ?? 0;
    await until(() => (azure.imds.polls.web_0 ?? 0) >= before + 2, { what: 'two more polls' });
  }

  test.each(faults)('$name ends no event and no polling', async ({ fault }) => {
    azure.imds.fault('scheduledevents', fault, 1);
    await pollTwice();
    expect(hubRecords(azure)).toHaveLength(1);
    expect(bridge.child.exitCode).toBeNull();
  });

  test('each kind of failure is named in the log', () => {
    const codes = new Set(bridge.log.filter(({ msg }) => msg.startsWith('No document')).map(({ code }) => code));
    expect([...codes].sort()).toEqual([...new Set(faults.map(({ code }) => code))].sort());
  });

  test('the next good document is understood', async () => {
    azure.imds.remove(eventId);
    await until(() => hubRecords(azure).length === 2);
    expect(recordLines(hubRecords(azure))[1]).toMatch(/^Freeze Completed of web_0: left-after-started/);
  });
});
