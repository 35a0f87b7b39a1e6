import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { notInCluster } from '../../src/host/in-cluster.ts';
import { type BridgeConfiguration, configurationFor, temporaryDirectory } from '../support/bridge-process.ts';
import { hubRecords, recordLines, tableRows } from '../support/delivered.ts';
import { root } from '../support/source-tree.ts';
import { until } from '../support/until.ts';
import { makeBareBase, makeBases, suite } from './bases.ts';
import { type Engine, startEngine, whyNoEngine } from './engine.ts';

const missing = whyNoEngine(suite());
const why = missing === null ? '' : ` (skipped: ${missing})`;

const image = 'scheduled-events-bridge';
const state = '/var/lib/scheduled-events-bridge';
/** As it is run in earnest, and with nothing that it could do without. */
const asMeant = ['--network', 'host', '--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
const soon = { timeoutMs: 60_000, everyMs: 200 };
const fiveMinutes = 300_000;

describe.skipIf(why)(`the container image${why}`, () => {
  let engine: Engine;
  let azure: AzureSimulator;
  let folder: ReturnType<typeof temporaryDirectory>;
  let port: string;

  beforeAll(async () => {
    folder = temporaryDirectory('image');
    port = await freePort();
    engine = await startEngine();
    azure = await startAzureSimulator();
    await makeBases(engine);
    await engine.build('--tag', image, root);
  }, 3 * fiveMinutes);
  afterAll(async () => {
    await engine?.close();
    await azure?.close();
    folder?.[Symbol.dispose]();
  }, fiveMinutes);

  /** Options that mount a configuration; `more` takes precedence. */
  function configured(more: BridgeConfiguration = {}): readonly string[] {
    const tls = { caFile: '/etc/scheduled-events-bridge/authorities.pem' };
    const value = { ...configurationFor(azure, 'web_0', state), tls, ...more };
    const place = join(folder.path, 'configuration');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'config.json'), JSON.stringify(value));
    writeFileSync(join(place, 'authorities.pem'), readFileSync(azure.caFile));
    return ['--volume', `${place}:/etc/scheduled-events-bridge:ro`];
  }
  const start = (name: string, ...options: readonly string[]): Promise<string> =>
    engine.must(
      ...['run', '--detach', '--name', name, ...asMeant, '--env', `SCHEDULED_EVENTS_BRIDGE_HTTP_PORT=${port}`],
      ...['--health-interval', '1s', ...options],
      image,
    );
  const healthOf = (name: string): Promise<string> =>
    engine.must('inspect', '--format', '{{.State.Health.Status}}', name);
  const inFifteenMinutes = (): Date => new Date(Date.now() + 900_000);

  test('without root, with a read-only root file system, it delivers, is healthy and stops with 0; a new container continues on its volume', {
    timeout: fiveMinutes,
  }, async () => {
    await start('first', '--volume', `kept:${state}`, ...configured());
    await until(async () => (await healthOf('first')) === 'healthy', { ...soon, what: 'a healthy container' });
    await until(() => (azure.imds.polls.web_0 ?? 0) > 1, { ...soon, what: 'polls' });
    const eventId = azure.imds.schedule({ eventType: 'Reboot', resources: ['web_0'], notBefore: inFifteenMinutes() });
    await until(() => hubRecords(azure).length === 1 && tableRows(azure).length === 1, { ...soon, what: 'the record' });
    const status = await engine.docker('exec', 'first', 'node', 'scheduled-events-bridge.cjs', 'status', '--json');
    expect(JSON.parse(status.stdout)).toMatchObject({ running: true, verdict: { actionRequired: false } });
    expect(await engine.must('exec', 'first', 'id', '-u')).toBe('65532');
    const rights = await engine.must('exec', 'first', 'stat', '--format', '%u %a', state, '/var/lib');
    expect(rights.split('\n')).toEqual(['65532 700', '0 755']);

    await engine.must('stop', '--time', '30', 'first');
    expect(await engine.must('inspect', '--format', '{{.State.ExitCode}}', 'first')).toBe('0');
    expect((await engine.docker('logs', 'first')).stderr).toContain('The bridge has stopped.');
    await engine.must('rm', 'first');

    await start('second', '--volume', `kept:${state}`, ...configured());
    azure.imds.start(eventId);
    await until(() => hubRecords(azure).length === 2, { ...soon, what: 'what came while the second one ran' });
    azure.imds.remove(eventId);
    await until(() => hubRecords(azure).length === 3, { ...soon, what: 'the end of the event' });
    await engine.must('rm', '--force', 'second');
    expect(recordLines(hubRecords(azure)).map((line) => line.split(' ')[1])).toEqual([
      'Scheduled',
      'Started',
      'Completed',
    ]);
    expect(new Set(hubRecords(azure).map(({ streamId }) => streamId)).size).toBe(1);
    expect(hubRecords(azure).map(({ position }) => position)).toEqual([1, 2, 3]);
  });

  test('a hanging one is unhealthy until it continues', { timeout: fiveMinutes }, async () => {
    const quick = ['--health-timeout', '2s', '--health-retries', '1', '--health-start-period', '1s'];
    await start('hanging', ...quick, ...configured());
    await until(async () => (await healthOf('hanging')) === 'healthy', { ...soon, what: 'a healthy container' });
    await engine.must('kill', '--signal', 'STOP', 'hanging');
    await until(async () => (await healthOf('hanging')) === 'unhealthy', { ...soon, what: 'an unhealthy one' });
    await engine.must('kill', '--signal', 'CONT', 'hanging');
    await until(async () => (await healthOf('hanging')) === 'healthy', { ...soon, what: 'a healthy one again' });
    await engine.must('rm', '--force', '--volumes', 'hanging');
  });

  test('it needs no shell, and only two libraries of its base image', { timeout: fiveMinutes }, async () => {
    await makeBareBase(engine, 'bare');
    await engine.build('--build-arg', 'RUN_IMAGE=bare', '--tag', 'on-bare', root);
    const inside = await engine.docker('run', '--rm', ...asMeant, '--entrypoint', '/bin/sh', 'on-bare', '-c', 'true');
    expect(inside.stderr).toContain('no such file or directory');
    const options = ['--detach', '--name', 'bare', ...asMeant, '--health-interval', '1s', ...configured()];
    await engine.must('run', ...options, '--env', `SCHEDULED_EVENTS_BRIDGE_HTTP_PORT=${port}`, 'on-bare');
    const before = azure.imds.polls.web_0 ?? 0;
    await until(() => (azure.imds.polls.web_0 ?? 0) > before + 1, { ...soon, what: 'polls' });
    await until(async () => (await healthOf('bare')) === 'healthy', { ...soon, what: 'a healthy container' });
    await engine.must('stop', '--time', '30', 'bare');
    expect(await engine.must('inspect', '--format', '{{.State.ExitCode}}', 'bare')).toBe('0');
  });

  test('the compile cache of the build is used', { timeout: fiveMinutes }, async () => {
    const asked = ['run', '--rm', ...asMeant, '--env', 'NODE_DEBUG_NATIVE=COMPILE_CACHE', image, 'version'];
    const { stdout, stderr } = await engine.docker(...asked);
    expect(stdout + stderr).toMatch(/code cache for CommonJS \/opt\/.*\/scheduled-events-bridge\.cjs was accepted/);
  });

  test('in a pod it refuses to approve, with the reason', { timeout: fiveMinutes }, async () => {
    const inPod = ['run', '--rm', ...asMeant, '--env', 'KUBERNETES_SERVICE_HOST=10.0.0.1'];
    const refused = await engine.docker(...inPod, ...configured({ approve: { userInitiated: true } }), image);
    expect(refused.status).toBe(78);
    expect(refused.stderr).toContain(notInCluster);
    const byHand = await engine.docker(...inPod, ...configured(), image, 'approve', 'an-event', '--yes');
    expect(byHand.status).toBe(22);
    expect(byHand.stderr).toContain(notInCluster);
  });

  describe('a pod of the manifest', () => {
    const { spec } = parse(readFileSync(join(root, 'infra/kubernetes/daemon-set.yaml'), 'utf8')).spec.template;
    const [{ command, securityContext }] = spec.initContainers;
    /** Runs the init container on a directory of the node, with the rights that it has there. */
    const own = (directory: string) => {
      const [program, ...args] = command as readonly [string, ...string[]];
      const added = securityContext.capabilities.add.flatMap((name: string) => ['--cap-add', name]);
      const user = ['--user', `${securityContext.runAsUser}:${securityContext.runAsGroup}`];
      const options = ['--rm', ...asMeant, ...added, ...user, '--volume', `${directory}:${state}`];
      return engine.docker('run', ...options, '--entrypoint', program, image, ...args);
    };

    test('a host path that the kubelet has made becomes its own, and records survive the pod there', {
      timeout: fiveMinutes,
    }, async () => {
      const directory = join(folder.path, 'host-path');
      mkdirSync(directory, { mode: 0o755 });
      expect(await own(directory)).toMatchObject({ status: 0, stderr: '' });
      expect(statSync(directory)).toMatchObject({ uid: 65532, gid: 65532, mode: 0o40700 });
      const before = azure.imds.polls.web_0 ?? 0;
      await start('pod', '--volume', `${directory}:${state}`, ...configured());
      await until(() => (azure.imds.polls.web_0 ?? 0) > before + 1, { ...soon, what: 'polls' });
      await engine.must('stop', '--time', '30', 'pod');
      expect(statSync(join(directory, 'outbox.sqlite')).uid).toBe(65532);
      expect(await own(directory)).toMatchObject({ status: 0, stderr: '' });
    });

    test('a host path of another owner is the state of an installation: it is left unchanged, and reported', {
      timeout: fiveMinutes,
    }, async () => {
      const directory = join(folder.path, 'installed');
      mkdirSync(directory, { mode: 0o700 });
      chownSync(directory, 998, 998);
      const { status, stderr } = await own(directory);
      expect(status).toBe(1);
      expect(stderr).toContain('belongs to user 998: the bridge is installed on the node itself');
      expect(statSync(directory)).toMatchObject({ uid: 998, mode: 0o40700 });
    });
  });
});

/** Of the loopback, which the containers share. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}
