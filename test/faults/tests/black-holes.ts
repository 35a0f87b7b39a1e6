import { makeCertificate } from '../../../src/azure-simulator/certificate.ts';
import type { FaultTest } from '../fault-test.ts';
import { drawScenes, playScenes, type Scene, type WireStage } from '../wire/scene.ts';

/** A pause of up to 4 s after the second failure, an attempt that had begun before the end of the fault, and a margin. */
const mostHealSeconds = 25;

const hubScene = (name: string, code: RegExp, begin: (stage: WireStage) => unknown): Scene => ({
  name: `hub: ${name}`,
  sinks: ['event-hubs'],
  code,
  begin,
  end: ({ hub }) => hub.set('pass'),
  heals: 'retries',
  mostHealSeconds,
  happened: ({ hub }) => hub.faulted,
});
const tableScene = (name: string, code: RegExp, begin: (stage: WireStage) => unknown): Scene => ({
  name: `table: ${name}`,
  sinks: ['log-analytics'],
  code,
  begin,
  end: ({ table }) => table.set('pass'),
  heals: 'retries',
  mostHealSeconds,
  happened: ({ table }) => table.faulted,
});
const noConnection = /^(connect-timeout|amqp-timeout)$/;
const noAnswer = /^upload-timeout$/;

/** Every way to accept a connection and not to answer. */
export const scenes: readonly Scene[] = [
  hubScene('accepts connections and is silent', noConnection, ({ hub }) => hub.set('silent')),
  hubScene('the TLS handshake stalls', noConnection, ({ hub }) => hub.set({ stallAfterBytes: 100 })),
  hubScene('AMQP never opens', noConnection, async ({ hub, azure }) => {
    const { key, cert } = await simulatorCertificate(azure.caFile);
    hub.set({ certificate: { key, cert }, behind: 'silent' });
  }),
  hubScene('an open connection dies', /^(send-timeout|amqp-timeout|connect-timeout)$/, ({ hub }) => hub.goDead()),
  {
    ...hubScene('transfers are never settled', /^(send-timeout|amqp-timeout)$/, ({ azure }) =>
      azure.eventHubs.fault('silent'),
    ),
    end: ({ azure }) => azure.eventHubs.fault(null),
    happened: ({ azure }) => azure.eventHubs.faultsPlayed,
  },
  tableScene('accepts connections and is silent', noAnswer, ({ table }) => table.set('silent')),
  tableScene('the TLS handshake stalls', noAnswer, ({ table }) => table.set({ stallAfterBytes: 100 })),
  tableScene('one byte a second', noAnswer, ({ table }) => table.set({ byteEveryMs: 1000 })),
  tableScene('an open connection dies', noAnswer, ({ table }) => table.goDead()),
  {
    ...tableScene('requests are never answered', noAnswer, ({ azure }) => azure.logAnalytics.fault('hang')),
    end: ({ azure }) => azure.logAnalytics.fault(null),
    happened: ({ azure }) => azure.logAnalytics.requests.filter(({ status }) => status === 0).length,
  },
];

/** The server's certificate, from the folder of its authority. */
const simulatorCertificate = (caFile: string) => makeCertificate({ directory: caFile.replace(/\/[^/]*$/, '') });

/** Peers that accept and do not answer, from the first byte or later. */
export const blackHoles: FaultTest = {
  id: 'black-holes',
  title: 'peers that accept and do not answer: TCP, TLS, AMQP, HTTP',
  kind: 'processes',
  cases: { quick: 10, full: 50 },
  load: { seconds: 45, processors: 0.3 },
  async run(context) {
    return await playScenes(drawScenes(scenes, context), context, 5);
  },
};
