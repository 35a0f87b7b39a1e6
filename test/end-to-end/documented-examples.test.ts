import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { olderNode } from '../support/older-node.ts';
import { root } from '../support/source-tree.ts';
import { until } from '../support/until.ts';

interface Running {
  readonly out: () => string;
  readonly err: () => string;
  readonly child: ChildProcess;
}

/** Runs a command line of a document in a shell; it and all that it starts ends with the test. */
function run(line: string, { env = process.env, shell = 'sh' } = {}): Running {
  const child = spawn(shell, ['-c', line], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await exited;
  });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (text.out += chunk));
  child.stderr.on('data', (chunk) => (text.err += chunk));
  return { child, out: () => text.out, err: () => text.err };
}

/** The fenced blocks of a document, with their language. */
function blocksOf(path: string): { readonly language: string; readonly text: string }[] {
  const found = readFileSync(join(root, path), 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...found].map(([, language = '', text = '']) => ({ language, text }));
}

/** Where the documents name `local-azure`, the test has a directory of its own, and free ports. */
const inDirectory = (command: string, directory: string): string =>
  command.replaceAll('local-azure', directory).replace(/^npm start -- simulate\b.*$/m, (line) => `${line} --port 0`);

/** Until it says that it waits for whoever looks. */
const ready = (simulate: Running) =>
  until(() => /first looks|say what/.test(simulate.out()), { timeoutMs: 30_000, what: `it; ${simulate.err()}` });

test('the record in the README comes out of the commands above it', async () => {
  using directory = temporaryDirectory('readme');
  const blocks = blocksOf('README.md');
  const at = blocks.findIndex(({ text }) => text.includes('"phase"'));
  const sample = JSON.parse(blocks[at]?.text ?? '');
  const [simulateCommand = '', runCommand = ''] = inDirectory(blocks[at - 1]?.text ?? '', directory.path).split('\n');
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
  await until(() => simulate.out().includes('freeze is over'), { timeoutMs: 60_000 });
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

/** As for somebody whose own Node.js is older, where there is one: what the document shows works with it. */
function strangersPath(): string {
  const { node, whyNot } = olderNode();
  if (whyNot) console.log(`  with the Node.js of the project on the PATH, not an older one:${whyNot}`);
  const own = (process.env.PATH ?? '').split(delimiter).filter((one) => !one.includes('node_modules'));
  return node ? [dirname(node.path), ...own].join(delimiter) : (process.env.PATH ?? '');
}

test('the three commands for the example subscriber work, whichever Node.js is on the PATH', async () => {
  using directory = temporaryDirectory('subscriber-commands');
  const [commands] = blocksOf('infra/examples/README.md');
  const lines = inDirectory(commands?.text ?? '', directory.path)
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
  const document = 'infra/examples/local-azure.md';
  const blocks = blocksOf(document);
  const textOf = (language: string, word: string): string =>
    blocks.find(({ language: is, text }) => is === language && text.includes(word))?.text ?? '';

  /** The simulator as the document starts it; answers with what follows in a shell that has sourced the variables. */
  async function startAzure(directory: string): Promise<(line: string, more?: NodeJS.ProcessEnv) => Running> {
    const start = blocks.find(({ text }) => text.includes('simulate'))?.text ?? '';
    await ready(run(inDirectory(start, directory)));
    const source = inDirectory(blocks.find(({ text }) => text.startsWith('. '))?.text.trim() ?? '', directory);
    return (line, more = {}) => run(`${source}\n${line}`, { env: { ...process.env, ...more } });
  }
  const ended = async ({ child, out, err }: Running): Promise<string> => {
    await until(() => child.exitCode !== null, { timeoutMs: 60_000, what: `its end; ${err()}` });
    expect({ code: child.exitCode, err: err() }).toEqual({ code: 0, err: '' });
    return out();
  };

  test('those in a shell answer with JSON', async () => {
    using directory = temporaryDirectory('shell-clients');
    const inShell = await startAzure(directory.path);
    const answers: unknown[] = [];
    for (const line of textOf('bash', 'curl').trim().split('\n')) answers.push(JSON.parse(await ended(inShell(line))));
    expect(answers).toEqual([
      { DocumentIncarnation: 1, Events: [] },
      { eventId: expect.stringMatching(/^[0-9A-F-]{36}$/) },
      [],
    ]);
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
      using directory = temporaryDirectory('python-clients');
      const inShell = await startAzure(directory.path);
      const inPython = (text: string): Running =>
        inShell(`exec "${python}" -c '${withoutWebSockets}' "$PROGRAM"`, { PROGRAM: text });
      const reader = inPython(textOf('python', 'EventHubConsumerClient'));
      const bridge = run(`npm start -- run --config ${directory.path}/bridge.json`);
      await ended(inPython(textOf('python', 'LogsIngestionClient')));
      const row = await ended(inShell('curl --silent "$SIMULATOR_CONTROL/rows/$LOGS_INGESTION_STREAM"'));
      expect(JSON.parse(row)).toMatchObject([{ RecordId: 'mine', Phase: 'Scheduled' }]);
      const listed = (): string => bridge.err() + bridge.out();
      await until(() => listed().includes('The bridge runs'), { timeoutMs: 30_000 });
      await ended(inShell(textOf('bash', 'curl').split('\n')[1] ?? ''));
      await until(() => reader.out().includes("Scheduled Reboot ['web_0']\n"), {
        timeoutMs: 60_000,
        what: `a record; ${reader.err()}`,
      });
    },
  );

  test.skipIf(noPython)(`without TransportType.Amqp azure-eventhub asks for websocket-client${noPython}`, async () => {
    using directory = temporaryDirectory('python-websockets');
    const inShell = await startAzure(directory.path);
    const text = textOf('python', 'EventHubConsumerClient').replace(/^ +transport_type=.*\n/m, '');
    const program = `import logging; logging.basicConfig()\n${text}`;
    const reader = inShell(`exec "${python}" -c '${withoutWebSockets}' "$PROGRAM"`, { PROGRAM: program });
    await until(() => /websocket-client/.test(reader.err()), { timeoutMs: 60_000, what: reader.out() });
  });
});
