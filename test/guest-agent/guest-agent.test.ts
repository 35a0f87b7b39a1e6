import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFailed, test } from 'vitest';
import { changes } from '../host-install/file-tree.ts';
import { versions } from '../host-install/packages.ts';
import { until } from '../support/until.ts';
import { expectAllRecords } from './records.ts';
import { isReady, openScene, type Scene } from './scene.ts';
import { whyNoAgent } from './why-not.ts';

/** Its package was damaged after it was made. */
const damaged = versions.dies;

describe.skipIf(whyNoAgent)(`waagent of Debian 13${whyNoAgent}`, () => {
  let scene: Scene;
  let before: string[];
  let settings: Awaited<ReturnType<Scene['settings']>>;

  beforeAll(async () => {
    scene = await openScene(inject('packages'), [versions.first, damaged, versions.next], { damaged });
    before = await scene.files();
    settings = await scene.settings();
  });
  beforeEach(() => {
    onTestFailed(async () => void process.stderr.write(await scene.logs()));
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  test('installs the first version, and reports each part of it', async () => {
    await scene.want({ ...settings, version: versions.first });
    const { runtimeSettingsStatus } = await scene.reports(isReady(versions.first, 0));
    const { substatus = [] } = runtimeSettingsStatus?.settingsStatus.status ?? {};
    expect(Object.fromEntries(substatus.map(({ name, status }) => [name, status]))).toEqual({
      service: 'success',
      imds: 'success',
      eventHubs: 'success',
      logAnalytics: 'success',
    });
    await scene.azure('beginTimeline');
  });

  test('enables the same settings again when it is started again, which does not restart the service', async () => {
    const { machine, service } = scene;
    const running = await service('InvocationID');
    const enabled = () => machine.ok('grep --count "enable ends" /var/log/azure/*/handler.log');
    const count = await enabled();
    await machine.ok('systemctl restart walinuxagent');
    await until(async () => (await enabled()) !== count, { timeoutMs: 60_000, what: 'another end of enable' });
    expect(await service('InvocationID')).toBe(running);
  });

  test('brings an encrypted connection string to the service, which is in no log and no file that others can read', async () => {
    const { azure, machine } = scene;
    const { connectionString, eventHubs, logAnalytics } = await azure('addresses');
    const { fullyQualifiedNamespace: _, ...hub } = eventHubs;
    settings = {
      publicSettings: { ...settings.publicSettings, sinks: { eventHubs: hub, logAnalytics } },
      protectedSettings: { sinks: { eventHubs: { connectionString } } },
    };
    await scene.want({ ...settings, sequence: 1 });
    await scene.reports(isReady(versions.first, 1));
    const sent = (await azure('records')).length;
    await until(async () => (await azure('records')).length > sent, { what: 'a record sent with the key' });

    const key = String(/SharedAccessKey=([^;]+)/.exec(connectionString)?.[1]);
    await machine.ok('cat >/dev/shm/key', { input: key });
    const holding = await machine.run(
      'grep --recursive --files-with-matches --fixed-strings --file=/dev/shm/key --exclude-dir=media /etc /home /media /opt /root /run /srv /tmp /usr/local /var',
    );
    await machine.ok('rm /dev/shm/key');
    expect(holding.out.trim().split('\n')).toEqual(['/etc/scheduled-events-bridge/config.json']);
    expect(await machine.ok('stat --format=%A /etc/scheduled-events-bridge/config.json')).toBe('-rw-r-----');
    expect(await machine.ok('journalctl --no-pager --output=export')).not.toContain(key);
    expect(await azure('received', key)).toEqual([]);
  });

  test('reports why a damaged version is refused, while the version before runs on', async () => {
    const began = Date.now();
    await scene.want({ version: damaged, sequence: 2 });
    const { code, formattedMessage, runtimeSettingsStatus } = await scene.reports(
      ({ handlerVersion, status }) => handlerVersion === damaged && status === 'NotReady',
    );
    await scene.printLongestPause('the refused update', began);
    expect(code).toBe(1008);
    const sentence = /The package in .* is damaged: LICENSE has .*/;
    expect(formattedMessage?.message).toMatch(sentence);
    expect(runtimeSettingsStatus).toMatchObject({
      sequenceNumber: 2,
      settingsStatus: {
        status: {
          status: 'error',
          operation: 'Update',
          code: 52,
          formattedMessage: { message: expect.stringMatching(sentence) },
        },
      },
    });
    expect(await scene.service('ActiveState')).toBe('active');
    expect(await scene.machine.ok('scheduled-events-bridge version')).toContain(versions.first);
  });

  test('updates to the next version, though it is killed in the middle of it', async () => {
    const { machine, processWith } = scene;
    const began = Date.now();
    await scene.want({ version: versions.next, sequence: 3 });
    await until(() => processWith('update'), { timeoutMs: 60_000, everyMs: 20, what: 'the update to begin' });
    // The command has a session of its own and continues; the agent that is started next begins the update again beside it.
    const agent = await processWith('-run-exthandlers');
    await machine.ok(`kill -KILL ${agent}`);
    await scene.reports(isReady(versions.next, 3));
    await scene.printLongestPause('the update', began);
    expect(await machine.ok('scheduled-events-bridge version')).toContain(versions.next);
    expect(await processWith('-run-exthandlers')).not.toBe(agent);
  });

  test('has lost no record across all of it, and no step has two', async () => {
    await expectAllRecords(scene, [versions.first, versions.next]);
  });

  test('uninstalls it, which leaves nothing', async () => {
    await scene.remove();
    expect(changes(before, await scene.files())).toEqual([]);
  });
});
