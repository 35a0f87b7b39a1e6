import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { configurationFor } from '../support/bridge-process.ts';
import { hubRecords, tableRows } from '../support/delivered.ts';
import { mainFile } from '../support/program.ts';
import { until } from '../support/until.ts';
import { openWindows, whyNoWine } from './windows-machine.ts';
import { createService, dataFolder } from './windows-service.ts';

/** What the two sinks have to get, in this order, of events that are scheduled in this order. */
const timeline = [
  ['Freeze', 'Scheduled'],
  ['Freeze', 'Started'],
  ['Reboot', 'Scheduled'],
  ['Reboot', 'Canceled'],
] as const;

test.skipIf(whyNoWine !== '')(
  `the bridge as a service of Windows reports its state, delivers what is pending when it is stopped, and continues after a start${whyNoWine}`,
  async () => {
    const azure = await startAzureSimulator();
    onTestFinished(azure.close);
    const machine = await openWindows();
    onTestFinished(() => machine[Symbol.asyncDispose]());
    const service = await createService(machine, { bridge: { file: mainFile } });
    const caFile = `${dataFolder}\\ca.pem`;
    writeFileSync(machine.file(caFile), azure.ca);
    const configuration = configurationFor(azure, 'web_0', `${dataFolder}\\state`, { tls: { caFile } });
    writeFileSync(machine.file(`${dataFolder}\\config.json`), JSON.stringify(configuration));
    const onHub = () => hubRecords(azure).map(({ eventType, phase }) => [eventType, phase]);
    const inFifteenMinutes = (): Date => new Date(Date.now() + 900_000);
    const logged = (phase: string): boolean => service.log().some((line) => line.includes(`"phase":"${phase}"`));

    await service.start();
    const first = await service.untilState({ ActiveState: 'active' }, 60_000);
    await until(() => (azure.imds.polls.web_0 ?? 0) >= 2, { what: 'polls', timeoutMs: 60_000 });
    await until(() => /^\d\d:\d\d:\d\d UTC: /.test(service.state().StatusText ?? ''), { what: 'a status sentence' });
    const freeze = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: inFifteenMinutes() });
    await until(() => hubRecords(azure).length === 1, { what: 'the first record', timeoutMs: 60_000 });
    azure.imds.start(freeze);
    await until(() => hubRecords(azure).length === 2 && tableRows(azure).length === 2, { timeoutMs: 60_000 });

    // The hub answers late, so that the next record is pending when the service is stopped. A bridge that ended then would send it again.
    azure.eventHubs.fault({ delayMs: 3_000 });
    const reboot = azure.imds.schedule({ eventType: 'Reboot', resources: ['web_0'], notBefore: inFifteenMinutes() });
    await until(() => service.log().some((line) => line.includes(reboot)), { what: 'the record of the reboot' });
    await service.stop();
    expect(await service.untilStopped()).toMatchObject({ Win32ExitCode: '0' });
    expect(onHub()).toEqual(timeline.slice(0, 3));
    expect(service.state()).toMatchObject({
      ActiveState: 'inactive',
      Result: 'success',
      ExecMainStatus: '0',
      NRestarts: '0',
    });

    azure.eventHubs.fault(null);
    const polls = azure.imds.polls.web_0 ?? 0;
    await service.start();
    const second = await service.untilState({ ActiveState: 'active' }, 60_000);
    expect(second.InvocationID).not.toBe(first.InvocationID);
    await until(() => (azure.imds.polls.web_0 ?? 0) >= polls + 2, { what: 'polls', timeoutMs: 60_000 });
    azure.imds.remove(reboot);
    await until(() => hubRecords(azure).length === 4 && tableRows(azure).length === 4, { timeoutMs: 60_000 });
    expect(onHub()).toEqual(timeline);
    expect(tableRows(azure).map(({ EventType, Phase }) => [EventType, Phase])).toEqual(timeline);
    expect(logged('Canceled')).toBe(true);
    expect(azure.errors).toEqual([]);
  },
);
