import { expect, inject, onTestFailed, test } from 'vitest';
import { changes } from '../../host-install/file-tree.ts';
import { versions } from '../../host-install/packages.ts';
import { until } from '../../support/until.ts';
import { expectAllRecords } from '../records.ts';
import { isReady, openScene } from '../scene.ts';
import { whyNoAgent } from '../why-not.ts';

test.skipIf(whyNoAgent)(
  `waagent updates, goes back from a version that crashes, downgrades though everything is killed, and loses no record${whyNoAgent}`,
  async () => {
    await using scene = await openScene(inject('packages'), [versions.first, versions.dies, versions.next]);
    onTestFailed(async () => void process.stderr.write(await scene.logs()));
    const { machine } = scene;
    const before = await scene.files();
    await scene.want({ ...(await scene.settings()), version: versions.first });
    await scene.reports(isReady(versions.first, 0));
    await scene.azure('beginTimeline');

    const brought = Date.now();
    await scene.want({ version: versions.dies, sequence: 1 });
    const { code, formattedMessage } = await scene.reports(
      ({ handlerVersion, status }) => handlerVersion === versions.dies && status === 'NotReady',
    );
    await scene.printLongestPause('the update to a version that crashes', brought);
    expect(code).toBe(1008);
    expect(formattedMessage?.message).toContain(`Back to version ${versions.first}, which is ready; nothing is lost.`);
    expect(await machine.ok('scheduled-events-bridge version')).toContain(versions.first);

    // Azure wants the version before again.
    await scene.want({ version: versions.first, sequence: 2 });
    await scene.reports(isReady(versions.first, 2));

    const updated = Date.now();
    await scene.want({ version: versions.next, sequence: 3 });
    await scene.reports(isReady(versions.next, 3));
    await scene.printLongestPause('the update', updated);

    // The agent runs `update` of the newer version for it, and both are killed in the middle of it.
    const downgraded = Date.now();
    await scene.want({ version: versions.first, sequence: 4 });
    await until(() => scene.processWith('update'), { timeoutMs: 60_000, everyMs: 20, what: 'the update to begin' });
    await machine.ok('systemctl kill --signal=KILL walinuxagent');
    await until(async () => (await machine.run('systemctl is-active walinuxagent')).out !== 'active\n');
    await machine.ok('systemctl reset-failed walinuxagent; systemctl start walinuxagent');
    await scene.reports(isReady(versions.first, 4));
    await scene.printLongestPause('the downgrade', downgraded);
    expect(await machine.ok('scheduled-events-bridge version')).toContain(versions.first);

    await expectAllRecords(scene, [versions.first, versions.next, versions.first]);
    await scene.remove();
    expect(changes(before, await scene.files())).toEqual([]);
  },
);
