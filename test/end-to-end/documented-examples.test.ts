import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  blocksOf,
  ended,
  exampleOf,
  inDirectory,
  type Running,
  ready,
  run,
  startAzure,
} from '../support/documented-commands.ts';
import { olderNode } from '../support/older-node.ts';
import { root } from '../support/source-tree.ts';
import { testDirectory } from '../support/test-directory.ts';
import { until } from '../support/until.ts';

test('the record in the README comes out of the commands above it', async () => {
  const directory = testDirectory('readme');
  const blocks = blocksOf('README.md');
  const at = blocks.findIndex(({ text }) => text.includes('"phase"'));
  const sample = JSON.parse(blocks[at]?.text ?? '');
  const [simulateCommand = '', runCommand = ''] = inDirectory(blocks[at - 1]?.text ?? '', directory).split('\n');
  const simulate = run(simulateCommand);
  await ready(simulate);
  const bridge = run(runCommand);
  const records = (): Record<string, unknown>[] =>
    bridge
      .out()
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  await until(() => simulate.out().includes('freeze has finished'), { timeoutMs: 60_000 });
  await until(() => records().some(({ phase }) => phase === sample.phase));
  const last = records().at(-1) ?? {};
  // Ids and measured times differ from run to run.
  const varying = { eventId: /^[0-9A-F-]{36}$/, transitionId: /^[0-9a-f]{32}$/, observedAt: /^\d{4}-\d\d-\d\dT.*Z$/ };
  for (const [field, value] of Object.entries(sample)) {
    if (field in varying) {
      expect([value, last[field]]).toEqual(
        Array(2).fill(expect.stringMatching(varying[field as keyof typeof varying])),
      );
    } else if (/^(notice|started)Seconds$/.test(field)) expect(last[field], field).toBeGreaterThan(0);
    else expect(last[field], field).toEqual(value);
  }
});

/** As for a user with an older Node.js, when one is installed: what the document shows works with it. */
function strangersPath(): string {
  const { node, whyNot } = olderNode();
  if (whyNot) console.log(`  with the Node.js of the project on the PATH, not an older one:${whyNot}`);
  const own = (process.env.PATH ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  return node ? [dirname(node.path), ...own].join(delimiter) : (process.env.PATH ?? '');
}

test('the three commands for the example subscriber work, whichever Node.js is on the PATH', async () => {
  const directory = testDirectory('subscriber-commands');
  const [commands] = blocksOf('infra/examples/README.md');
  const lines = inDirectory(commands?.text ?? '', directory)
    .trim()
    .split('\n');
  expect(lines).toHaveLength(3);
  const env = { ...process.env, PATH: strangersPath() };
  const [simulateCommand = '', bridgeCommand = '', subscriberCommand = ''] = lines;
  await ready(run(simulateCommand, { env }));
  const subscriber = run(subscriberCommand, { env });
  const bridge = run(bridgeCommand, { env });
  await until(() => /^drain web_0: Reboot/m.test(subscriber.out()), {
    timeoutMs: 60_000,
    what: `a drain; ${subscriber.err()} ${bridge.err()}`,
  });
  await until(() => /^restore web_0: Reboot Completed/m.test(subscriber.out()), { timeoutMs: 60_000 });
  expect(subscriber.err()).toBe('');
});

describe('clients of the local Azure', () => {
  test('those in a shell answer with JSON', async () => {
    const directory = testDirectory('shell-clients');
    const inShell = await startAzure(directory);
    const answers: unknown[] = [];
    for (const line of exampleOf('bash', 'curl').trim().split('\n'))
      answers.push(JSON.parse(await ended(inShell(line))));
    expect(answers).toEqual([
      { DocumentIncarnation: 1, Events: [] },
      { eventId: expect.stringMatching(/^[0-9A-F-]{36}$/) },
      [],
    ]);
    await ended(inShell(exampleOf('bash', 'token=')));
    const events = JSON.parse(await ended(inShell('curl --silent "$SIMULATOR_CONTROL/hub/events"')));
    expect(events).toMatchObject([{ body: { phase: 'Scheduled' } }]);
  });

  const python = join(root, 'node_modules/.cache/third-party/python/bin/python');
  const noPython =
    spawnSync(python, ['-c', 'import azure.eventhub']).status === 0
      ? ''
      : " (skipped: Microsoft's Python clients are not here; test/third-party/prepare fetches them)";
  /** As if `websocket-client` were not installed: azure-eventhub does not depend on it. */
  const withoutWebSockets = 'import sys; sys.modules["websocket"] = None; exec(sys.argv[1])';

  test.skipIf(noPython)(
    `those in Python read records and write rows, without websocket-client${noPython}`,
    async () => {
      const directory = testDirectory('python-clients');
      const inShell = await startAzure(directory);
      const inPython = (text: string): Running =>
        inShell(`exec "${python}" -c '${withoutWebSockets}' "$PROGRAM"`, { PROGRAM: text });
      const reader = inPython(exampleOf('python', 'EventHubConsumerClient'));
      const bridge = run(`npm start -- run --config ${directory}/bridge.json`);
      await ended(inPython(exampleOf('python', 'LogsIngestionClient')));
      const row = await ended(inShell('curl --silent "$SIMULATOR_CONTROL/rows/$LOGS_INGESTION_STREAM"'));
      expect(JSON.parse(row)).toMatchObject([{ RecordId: 'mine', Phase: 'Scheduled' }]);
      const listed = (): string => bridge.err() + bridge.out();
      await until(() => listed().includes('The bridge is running'), { timeoutMs: 30_000 });
      await ended(inShell(exampleOf('bash', 'curl').split('\n')[1] ?? ''));
      await until(() => reader.out().includes("Scheduled Reboot ['web_0']\n"), {
        timeoutMs: 60_000,
        what: `a record; ${reader.err()}`,
      });
    },
  );

  test.skipIf(noPython)(`without TransportType.Amqp azure-eventhub needs websocket-client${noPython}`, async () => {
    const directory = testDirectory('python-websockets');
    const inShell = await startAzure(directory);
    const text = exampleOf('python', 'EventHubConsumerClient').replace(/^ +transport_type=.*\n/m, '');
    const program = `import logging; logging.basicConfig()\n${text}`;
    const reader = inShell(`exec "${python}" -c '${withoutWebSockets}' "$PROGRAM"`, { PROGRAM: program });
    await until(() => /websocket-client/.test(reader.err()), { timeoutMs: 60_000, what: reader.out() });
  });
});
