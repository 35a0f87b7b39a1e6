import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { freePort } from '../health/free-port.ts';
import { startReceiver } from '../sinks/http/receiver.ts';
import { test } from '../support/azure-test.ts';
import { type BridgeProcess, configurationFor } from '../support/bridge-process.ts';
import { startConnectProxy } from '../support/connect-proxy.ts';
import { hubRecords, tableRows } from '../support/delivered.ts';
import { type Ended, runCommand } from '../support/program.ts';
import { until } from '../support/until.ts';

/** Each is in one place of the configuration, and must be nowhere else. */
const planted = {
  connectionString: 'canaryKey0123456789abcdefghijklmnopqrstuvwxyz=',
  urlSignature: 'canarySignature0123',
  header: 'canaryHeader0123',
  proxyPassword: 'canaryProxy0123',
};
/** With what is derived from them: the proxy's header, a token for the event hub, and any token of the metadata service. */
const secrets = [
  ...Object.values(planted),
  Buffer.from(`ada:${planted.proxyPassword}`).toString('base64'),
  'SharedAccessSignature sr=',
  /eyJ[\w-]{8,}\.eyJ/,
];
const foundIn = (text: string): unknown[] =>
  secrets.filter((secret) => (typeof secret === 'string' ? text.includes(secret) : secret.test(text)));

/** Command lines of a process and of its children, which every user of the machine can read. */
function commandLines(pid: number): string {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return [pid, ...children.map(Number)].map((each) => readFileSync(`/proc/${each}/cmdline`, 'utf8')).join('\n');
}

/** An uncaught error as a library may throw it: what it works on hangs on it. */
const crash = `setTimeout(() => {
  const { header, proxyPassword } = ${JSON.stringify(planted)};
  const cause = Object.assign(new Error('refused'), { request: { headers: { authorization: 'Bearer ' + header } } });
  throw Object.assign(new TypeError('Invalid URL', { cause }), { input: 'http://ada:' + proxyPassword + '@proxy' });
}, 500)`;

test('no secret is in a log, status, metric, record, file of the state, command line, message or crash', async ({
  azure,
  directory,
  start,
  expect,
}) => {
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const proxy = await startConnectProxy(200, `ada:${planted.proxyPassword}`);
  onTestFinished(() => proxy.close());
  // The worst endpoint: it repeats in its refusal what it was sent.
  const url = `${receiver.url}?sig=${planted.urlSignature}`;
  const body = `refused: Bearer ${planted.header} at /events?sig=${planted.urlSignature}`;
  receiver.behave({ status: 400, body });

  const port = await freePort();
  const headerFile = join(directory, 'header');
  writeFileSync(headerFile, `Authorization: Bearer ${planted.header}\n`, { mode: 0o600 });
  const { eventHubs, logAnalytics } = azure;
  const { endpoint, ruleId, streamName } = logAnalytics;
  const state = join(directory, 'state');
  const configuration = configurationFor(azure, 'web_0', state, {
    sinks: {
      eventHubs: {
        connectionString: `Endpoint=sb://${eventHubs.fullyQualifiedNamespace};SharedAccessKeyName=k;SharedAccessKey=${planted.connectionString}`,
        customEndpoint: eventHubs.websocketEndpoint.replace('wss:', 'sb:'),
        eventHubName: eventHubs.eventHubName,
        transport: 'amqp-ws',
      },
      logAnalytics: { endpoint, ruleId, streamName },
      http: { url, headerFile },
    },
    proxy: { url: proxy.url.replace('//', `//ada:${planted.proxyPassword}@`), bypass: ['127.0.0.1'] },
    http: { port },
    log: { level: 'debug' },
  });
  const file = join(directory, 'config.json');
  writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
  const seen = new Map<string, string>();
  const run = async (...args: readonly string[]): Promise<Ended> => {
    const ended = await runCommand(args);
    seen.set(args.join(' '), `${ended.out}\n${ended.err}`);
    return ended;
  };
  const command = (...args: readonly string[]): Promise<Ended> => run(...args, '--config', file);
  const watch = (bridge: BridgeProcess, name: string): void => {
    bridge.child.once('close', () => seen.set(name, bridge.stdout() + bridge.stderr()));
  };

  const bridge = start(configuration);
  watch(bridge, 'log');
  await until(() => (azure.imds.polls.web_0 ?? 0) > 1, { what: 'polls' });
  const notBefore = new Date(Date.now() + 900_000);
  azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore });
  const refused = (code: string): boolean => bridge.log.some((line) => line.code === code);
  await until(() => refused('unauthorized') && refused('http-400') && tableRows(azure).length > 0, {
    what: 'both refusals, and a record in the table through the proxy',
  });
  seen.set('command lines', commandLines(bridge.child.pid ?? 0));
  for (const path of ['metrics', 'healthz', 'readyz', 'livez'])
    seen.set(path, await (await fetch(`http://127.0.0.1:${port}/${path}`)).text());
  await command('status', '--json');
  await command('status');
  await command('check');
  await command('check', '--json');
  await command('tail');
  await run('outbox', 'list', '--state-directory', state);
  await run('outbox', 'export', '--state-directory', state);
  await run('--help');
  const wrong = { ...configuration, proxy: { url: `http://ada:${planted.proxyPassword}@:x` }, unknown: planted };
  writeFileSync(file, JSON.stringify(wrong), { mode: 0o600 });
  expect((await command('check', '--offline')).code).not.toBe(0);
  expect((await command('run')).code).toBe(78);
  writeFileSync(file, `${JSON.stringify(configuration)} ${planted.connectionString}`, { mode: 0o600 });
  expect((await command('run')).code).toBe(78);
  bridge.kill('SIGTERM');
  await bridge.exited;

  const crashFile = join(directory, 'crash.mjs');
  writeFileSync(crashFile, crash);
  const crashing = start(configuration, { env: { NODE_OPTIONS: `--import ${crashFile}` } });
  watch(crashing, 'crash');
  expect((await crashing.exited).code).toBe(exitCodes.unexpected.code);
  await until(() => seen.has('crash') && seen.has('log'));
  expect(seen.get('crash')).toContain('Unexpected error: TypeError: Invalid URL');

  for (const name of readdirSync(state, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()))
    seen.set(name.name, readFileSync(join(name.parentPath, name.name), 'latin1'));
  seen.set('records', JSON.stringify([hubRecords(azure), tableRows(azure)]));

  const leaks = [...seen]
    .map(([where, text]) => [where, foundIn(text)] as const)
    .filter(([, found]) => found.length > 0);
  expect(leaks).toEqual([]);
  // All of them were used: the endpoint got the header and the signature, and the proxy let through who has the password.
  expect(receiver.requests[0]?.headers.authorization).toBe(`Bearer ${planted.header}`);
  expect(receiver.requests[0]?.path).toContain(planted.urlSignature);
  expect(foundIn(JSON.stringify(configuration))).toEqual(expect.arrayContaining([planted.connectionString]));
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining(['outbox.sqlite', 'log', 'crash', 'metrics', 'command lines']),
  );
});
