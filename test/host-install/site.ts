import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject, onTestFailed } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import type { ServiceStatus } from '../../src/service/status.ts';
import { configurationFor } from '../support/bridge-process.ts';
import { hubRecords } from '../support/delivered.ts';
import { until } from '../support/until.ts';
import { type BootedMachine, bootMachine } from './booted-machine.ts';
import type { System } from './image.ts';
import { versions } from './packages.ts';

/** The name of the VM in Azure, which is not what the machine calls itself. */
export const vm = 'web_0';
/** Where a configuration for that VM lies in the machine, its destination the event hub. */
export const configuration = '/media/config.json';
export const command = 'scheduled-events-bridge';

/** A machine and the Azure that it is in. */
export interface Site {
  readonly azure: AzureSimulator;
  readonly machine: BootedMachine;
  /** `service status --json` in the machine, also where its exit code calls for a person. */
  status(): Promise<ServiceStatus>;
  /** Announces a freeze of the VM in 15 minutes. @returns its EventId. */
  announce(): string;
  /** Resolves when the event hub has a record of the event. */
  arrives(eventId: string): Promise<ReturnType<typeof hubRecords>[number]>;
  /** Resolves when the bridge has polled twice from now on. */
  polled(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** @param name of the machine. */
export async function openSite(name: string, system?: System): Promise<Site> {
  const azure = await startAzureSimulator();
  const machine = await bootMachine(name, inject('packages'), { ...(system && { system }) });
  writeFileSync(join(machine.media, 'ca.pem'), azure.ca);
  const { eventHubs } = configurationFor(azure, vm, '').sinks as { readonly eventHubs: object };
  const settings = configurationFor(azure, vm, `/var/lib/${command}`, {
    sinks: { eventHubs },
    tls: { caFile: '/media/ca.pem' },
  });
  writeFileSync(join(machine.media, 'config.json'), JSON.stringify(settings));
  const log = `journalctl --quiet --no-pager --output=cat --unit=${command} --lines=15`;
  let lastLog = '';
  onTestFailed(() => void process.stderr.write(`The log of the bridge ends with:\n${lastLog}\n`));
  const polls = (): number => azure.imds.polls[vm] ?? 0;
  return {
    azure,
    machine,
    status: async () => JSON.parse((await machine.run(`${command} service status --json`)).out) as ServiceStatus,
    announce: () =>
      azure.imds.schedule({ eventType: 'Freeze', resources: [vm], notBefore: new Date(Date.now() + 900_000) }),
    arrives: (eventId) =>
      until(() => hubRecords(azure).find((record) => record.eventId === eventId), {
        timeoutMs: 60_000,
        what: `a record of ${eventId} on the event hub`,
      }),
    async polled() {
      const before = polls();
      await until(() => polls() >= before + 2, { timeoutMs: 60_000, what: 'two polls' });
    },
    async [Symbol.asyncDispose]() {
      lastLog = (await machine.run(log)).out;
      await machine[Symbol.asyncDispose]();
      await azure.close();
    },
  };
}

/** Installs the first version from its folder, as an administrator would, and returns when it is ready. */
export async function installed({ machine }: Pick<Site, 'machine'>): Promise<string> {
  return machine.ok(`/srv/${versions.first}/install.sh ${configuration}`);
}
