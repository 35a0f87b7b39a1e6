import { Command } from 'commander';
import { expect, onTestFinished, test } from 'vitest';
import { addEmitTest } from '../../src/cli/emit-test.ts';
import { exitCodes, Failure } from '../../src/cli/exit-codes.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import { createEmitTest, emitTestRequest } from '../../src/requests/emit-test.ts';
import { observerNamed } from '../support/observations.ts';
import { serveRequests } from '../support/serve-requests.ts';
import { testDirectory } from '../support/test-directory.ts';

function open(path: string, sinks: readonly string[] = ['event-hubs', 'log-analytics']) {
  const log = silentLog;
  const outbox = openOutbox({
    directory: path,
    sinks,
    maxMegabytes: 16,
    clock: systemClock,
    log,
    version: '1',
  });
  onTestFinished(() => outbox.close());
  return outbox;
}

/** The parts of a service that answer. */
function serve(path: string, vmName: string | null, sinks?: readonly string[]) {
  const outbox = open(path, sinks);
  const observer = { known: () => (vmName === null ? null : observerNamed(vmName)) };
  const clock = systemClock;
  const emitTest = createEmitTest({ outbox, observer, clock, version: '1.2.3', imdsApiVersion: '2020-07-01' });
  const desk = serveRequests(outbox, { [emitTestRequest]: emitTest });
  onTestFinished(() => desk[Symbol.asyncDispose]());
  return outbox;
}

async function emitTest(path: string, ...more: readonly string[]): Promise<string> {
  let printed = '';
  const program = new Command().exitOverride();
  const stop = new AbortController().signal;
  addEmitTest(program, { env: {}, stop, print: (text) => (printed += text) });
  await program.parseAsync(['emit-test', '--state-directory', path, ...more], { from: 'user' });
  return printed;
}

const refusal = (path: string) =>
  emitTest(path).then(
    () => null,
    (error) => error instanceof Failure && { code: exitCodes[error.reason].code, message: error.message },
  );

test('the service stores a test in its outbox, and the command prints the ids to find it by', async () => {
  const directory = testDirectory('emit');
  const outbox = serve(directory, 'web_0');
  const printed = await emitTest(directory);
  const [pending] = outbox.pending('event-hubs', { limit: 10 });
  const record = JSON.parse(pending?.json.toString() ?? '{}');
  expect(record).toMatchObject({ isTest: true, vmName: 'web_0', position: 1, bridgeVersion: '1.2.3' });
  expect(printed).toContain('A test record is in the outbox');
  expect(printed).toContain(`VmLifecycle_CL | where RecordId == "${record.recordId}"`);
  expect(printed).toContain(`partition key ${record.eventId}`);
});

test.for([
  { sinks: ['http'], named: ['HTTP endpoint'] },
  { sinks: ['event-hubs', 'log-analytics'], named: ['Event Hubs', 'Log Analytics'] },
])('the command names only the configured destinations: $sinks', async ({ sinks, named }) => {
  const directory = testDirectory('emit-sinks');
  serve(directory, 'web_0', sinks);
  const printed = await emitTest(directory);
  const labels = ['Event Hubs', 'HTTP endpoint', 'Log Analytics', 'Standard output'];
  expect(labels.filter((label) => printed.includes(`\n  ${label} `))).toEqual(named);
  expect(/alerts leave out tests/.test(printed)).toBe(sinks.includes('log-analytics'));
});

test('the JSON output has the ids of a test', async () => {
  const directory = testDirectory('emit-json');
  const outbox = serve(directory, 'web_0');
  const { streamId } = outbox.state;
  expect(JSON.parse(await emitTest(directory, '--json'))).toMatchObject({ ok: true, position: 1, streamId });
});

test('a test of a VM that does not know its name is refused with the reason', async () => {
  const directory = testDirectory('emit-nameless');
  const outbox = serve(directory, null);
  expect(await refusal(directory)).toEqual({
    code: 22,
    message: expect.stringContaining('does not know its own name'),
  });
  expect(outbox.state.position).toBe(0);
});

test('without a running service it explains how to start one', async () => {
  const directory = testDirectory('emit-none');
  expect(await refusal(directory)).toEqual({
    code: 21,
    message: expect.stringContaining('There is no outbox in'),
  });
  open(directory).close();
  expect(await refusal(directory)).toEqual({ code: 22, message: expect.stringContaining('systemctl start') });
});
