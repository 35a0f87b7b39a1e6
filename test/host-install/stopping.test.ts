import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { hubRecords } from '../support/delivered.ts';
import { until } from '../support/until.ts';
import { whyNoMachine } from './image.ts';
import { command, installed, openSite } from './site.ts';

/** A network, ordered as those of distributions are, that reports when it stops, with what systemd says of the bridge at that time, and waits for an acknowledgement. */
const network = (port: number): string => `
[Unit]
DefaultDependencies=no
Wants=network.target
Before=network.target
Conflicts=shutdown.target
Before=shutdown.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=/bin/bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}; systemctl is-active ${command} >&3; read -r -t 20 <&3'

[Install]
WantedBy=multi-user.target
`;

test.skipIf(whyNoMachine)(
  `at power-off pending records are sent before the network stops, and the reboot is recognized by its boot id${whyNoMachine}`,
  async () => {
    await using site = await openSite('stopping');
    const { azure, machine } = site;
    await using listening = await listen();
    await machine.ok('cat >/etc/systemd/system/fake-network.service', { input: network(listening.port) });
    await machine.ok('systemctl enable --quiet --now fake-network.service');
    await installed(site);
    const firstBoot = machine.bootId;

    const reboot = azure.imds.schedule({ eventType: 'Reboot', resources: ['web_0'] });
    azure.imds.start(reboot);
    expect(await site.arrives(reboot)).toMatchObject({ phase: 'Started', bootId: firstBoot });
    // The hub takes its time over what comes last, so that it is on its way when the machine stops.
    azure.eventHubs.fault({ delayMs: 2_000 });
    const late = site.announce();
    await site.polled();
    const saidOfTheBridge = listening.heard();
    await machine.powerOff();
    expect(await saidOfTheBridge).toBe('inactive');

    azure.eventHubs.fault(null);
    azure.imds.remove(reboot);
    await machine.boot();
    const ended = await until(
      () => hubRecords(azure).find(({ eventId, phase }) => eventId === reboot && phase === 'Completed'),
      { timeoutMs: 60_000, what: 'the end of the reboot' },
    );
    expect(machine.bootId).not.toBe(firstBoot);
    expect(ended).toMatchObject({ bootId: machine.bootId });
    expect(ended.evidence).toContain('boot-id-changed');
    // Had it gone unacknowledged, it would have been sent again before this one.
    await site.arrives(site.announce());
    expect(hubRecords(azure).filter(({ eventId }) => eventId === late)).toHaveLength(1);
  },
);

/** Receives what one caller sends, and answers. */
async function listen() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    heard: () =>
      new Promise<string>((resolve) => {
        server.once('connection', (socket) => {
          let said = '';
          socket.on('error', () => {});
          socket.on('data', (chunk) => {
            said += chunk;
            if (!said.endsWith('\n')) return;
            socket.end('\n');
            resolve(said.trim());
          });
        });
      }),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
