import { expect, test } from 'vitest';
import { firstCopies, hubRecords } from '../support/delivered.ts';
import { until } from '../support/until.ts';
import { whyNoMachine } from './image.ts';
import { versions } from './packages.ts';
import { command, configuration, openSite, vm } from './site.ts';

test.skipIf(whyNoMachine)(
  `1,000 undelivered records survive a version that crashes, an update and a manual rollback${whyNoMachine}`,
  async () => {
    await using site = await openSite('update');
    const { azure, machine } = site;
    await machine.ok(`dpkg -i /srv/${versions.first}.deb && ${command} service configure --config ${configuration}`);
    await azure.eventHubs.pause({ drop: true });
    const announced = Array.from({ length: 1000 }, () => site.announce());
    const waiting = async (): Promise<number> => {
      const { sinks } = JSON.parse(
        (await machine.run(`${command} status --json >/run/status.json; cat /run/status.json`)).out,
      ) as {
        readonly sinks: readonly { readonly waiting: number }[];
      };
      return sinks[0]?.waiting ?? 0;
    };
    await until(async () => (await waiting()) === announced.length, { timeoutMs: 60_000, everyMs: 500 });

    const broken = await machine.run(`dpkg -i /srv/${versions.dies}.deb`);
    expect(broken.code).toBe(0);
    expect(broken.err).toContain(
      `Version ${versions.dies} did not become ready: it ended again and again, last with exit code 1. Back to version ${versions.first}, which is ready; nothing is lost.`,
    );
    expect(broken.err).toContain('dpkg counts it as installed');
    const { service, ...ran } = await site.status();
    expect({ ...ran, active: service?.active }).toMatchObject({
      version: versions.first,
      active: 'active',
      refused: { version: versions.dies },
    });
    // It does not block other packages, and nothing is retried automatically.
    await machine.ok('apt-get --assume-yes --fix-broken install && dpkg --configure -a');
    expect((await site.status()).service?.pid).toBe(service?.pid);
    expect(await machine.run(`${command} service status`)).toMatchObject({
      code: 20,
      out: expect.stringContaining(`Version ${versions.dies} was installed but does not run`),
    });
    expect(await waiting()).toBe(announced.length);

    const updated = await machine.ok(`dpkg -i /srv/${versions.next}.deb`);
    expect(updated).toContain(`Version ${versions.next} runs and is ready, after ${versions.first}.`);
    expect(await site.status()).toMatchObject({
      version: versions.next,
      previous: versions.first,
      versions: [versions.first, versions.next],
      isAsItWasReady: true,
    });
    expect(await waiting()).toBe(announced.length);

    const back = await machine.ok(`/opt/${command}/versions/${versions.first}/update.sh`);
    expect(back).toContain(`Version ${versions.first} runs and is ready, after ${versions.next}.`);
    expect(await site.status()).toMatchObject({ version: versions.first, previous: versions.next });
    expect(await waiting()).toBe(announced.length);

    await azure.eventHubs.resume();
    // What is urgent wakes a destination that is in no hurry to be tried again.
    azure.imds.schedule({ eventType: 'Preempt', resources: [vm], notBefore: new Date(Date.now() + 30_000) });
    const arrived = () => firstCopies(hubRecords(azure)).filter(({ eventId }) => announced.includes(eventId));
    await until(() => arrived().length === announced.length, { timeoutMs: 120_000, everyMs: 200 });
    expect(new Set(arrived().map(({ eventId }) => eventId))).toEqual(new Set(announced));
    expect(new Set(arrived().map(({ streamId }) => streamId)).size).toBe(1);
  },
);
