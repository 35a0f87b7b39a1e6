import { createServer } from 'node:http';
import { afterAll, beforeAll, describe } from 'vitest';
import { type AzureSimulator, type ImdsFault, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { freePort } from '../health/free-port.ts';
import { test } from '../support/azure-test.ts';
import type { BridgeConfiguration } from '../support/bridge-process.ts';
import { play, type Situation, well } from '../support/situation.ts';
import { openStage, quickImds, type Stage, seesDocuments } from '../support/stage.ts';

const stdout = { sinks: { stdout: {} } };

/** Each with a bridge and a metadata service of its own: they take their ten seconds at the same time. */
const faults: readonly {
  readonly name: string;
  readonly fault: ImdsFault;
  readonly why: RegExp;
  readonly command?: RegExp;
}[] = [
  { name: 'does not answer', fault: 'hang', why: /did not answer (within|the last poll)/ },
  { name: 'answers 404', fault: { status: 404 }, why: /404/ },
  { name: 'answers 429', fault: { status: 429, headers: { 'retry-after': '1' } }, why: /429|throttle/i },
  { name: 'answers 500', fault: { status: 500 }, why: /500/ },
  { name: 'answers 403', fault: { status: 403 }, why: /403/, command: /az vm|az vmss/ },
  { name: 'answers a page of a portal', fault: 'not-json', why: /not JSON|no JSON/i },
  { name: 'resets connections', fault: 'reset', why: /closed the connection/ },
];

const curl = /curl .*\/metadata\/scheduledevents\?api-version=2020-07-01"/;

describe('status and check when the metadata service', { concurrent: true }, () => {
  const stages = new Map<string, { readonly azure: AzureSimulator; readonly stage: Stage }>();
  beforeAll(async () => {
    const begin = async (name: string, more: BridgeConfiguration) => {
      const azure = await startAzureSimulator();
      const stage = await openStage(azure, { more: { ...stdout, ...more } });
      stages.set(name, { azure, stage });
      await stage.start();
    };
    const imds = { endpoint: `http://127.0.0.1:${await freePort()}`, ...quickImds };
    await Promise.all([begin('refuses', { imds }), ...faults.map(({ name }) => begin(name, {}))]);
    for (const { name, fault } of faults) {
      const { azure, stage } = of(name);
      await seesDocuments(stage);
      azure.imds.fault('scheduledevents', fault);
    }
  }, 120_000);
  afterAll(async () => {
    for (const { azure, stage } of stages.values()) {
      await stage[Symbol.asyncDispose]();
      await azure.close();
    }
  });
  const of = (name: string) => {
    const found = stages.get(name);
    if (!found) throw new Error(`no stage ${name}`);
    return found;
  };
  const isBlind = (stage: Stage) =>
    stage.untilStatus(
      'ten seconds without a document',
      ({ service }) => (service?.poll.upSeconds ?? 0) > 11 && (service?.poll.documentAgeSeconds ?? 11) > 10,
    );

  test('refuses connections from the start', async () => {
    await play(of('refuses').stage, {
      name: 'refused',
      make: isBlind,
      message:
        /^No document from the metadata service since the start, \d+ (s|min) ago: Nothing listens at http:.*Run check/,
      status: 20,
      check: 10,
      checkPrints: /\$ curl .*\/metadata\/scheduledevents\?api-version=/,
      ready: 503,
      health: 'unready',
    });
  });

  test.for(faults)('$name', async ({ name, why, command = curl }) => {
    const { azure, stage } = of(name);
    await play(stage, {
      name,
      make: isBlind,
      message: new RegExp(
        `^No document from the metadata service for \\d+ (s|min): .*(${why.source}).*Run check`,
        why.flags,
      ),
      page: /^Last document +\d+ (s|min) ago/m,
      status: 20,
      check: 10,
      checkPrints: new RegExp(`PROBLEM +document [\\s\\S]*\\$ .*(${command.source})`),
      ready: 503,
      health: 'unready',
    });
    azure.imds.fault('scheduledevents', null);
    const isBack = () => stage.untilStatus('a document', ({ service }) => (service?.poll.documentAgeSeconds ?? 99) < 2);
    await play(stage, { name: 'is back', make: isBack, ...well });
  });
});

describe('status and check', { concurrent: true }, () => {
  const situations: readonly Situation[] = [
    {
      name: 'while the first answer is awaited, which may take two minutes',
      make: async (stage) => {
        const server = createServer(() => {}); // never answers, as before the feature is on
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        const { port } = server.address() as { port: number };
        server.unref();
        const imds = { endpoint: `http://127.0.0.1:${port}`, timeoutSeconds: 1, firstTimeoutSeconds: 130 };
        stage.configure({ imds });
        await stage.start();
        await stage.untilStatus('twelve seconds', ({ service }) => (service?.poll.upSeconds ?? 0) > 12);
        stage.configure({ imds: { ...imds, firstTimeoutSeconds: 1 } }); // check does not wait that long
      },
      message:
        /^Running; not watching yet: the first answer of the metadata service may take 2 min \(\d\d s so far\)\.$/,
      status: 0,
      check: 10,
      checkPrints: /WARNING +service .*not watching yet/,
      ready: 503,
      health: 'unready',
    },
    {
      name: 'when the poll under way is late by more than three intervals',
      make: async (stage) => {
        await stage.start();
        await seesDocuments(stage);
        stage.azure.imds.fault('scheduledevents', 'hang');
        await stage.untilStatus('a late poll', ({ service }) => (service?.poll.ageSeconds ?? 0) > 3.1);
      },
      message:
        /^Running; the last poll ended \d+ s ago, with an interval of 1 s: the metadata service is slow to answer\.$/,
      status: 0,
      check: 10,
      checkPrints: /WARNING +service .*the last poll ended/,
      ready: /^ready\nthe last poll ended/,
      health: 'warning',
    },
    {
      name: 'when the clock of the VM is a day ahead',
      make: async (stage) => {
        stage.azure.imds.shiftDate(-86_400_000);
        await stage.start();
        await stage.untilStatus('the offset', ({ document }) => document?.clockOffsetSeconds !== null);
      },
      message: /^The clock of this VM is 24 h ahead of Azure's, so tokens and certificates are refused\. Set it/,
      status: 20,
      check: 15,
      ready: /^ready\n$/,
    },
  ];

  test.for(situations)('$name', async (situation, { azure }) => {
    const imds = { endpoint: azure.imds.vmUrl('web_0'), timeoutSeconds: 10, firstTimeoutSeconds: 10 };
    await using stage = await openStage(azure, { more: { ...stdout, imds } });
    await play(stage, situation);
  });
});
