import type { ImdsFault, LogsFault } from '../../../src/azure-simulator/index.ts';
import type { FaultTest } from '../fault-test.ts';
import { makeCertificates, type TestCertificates } from '../wire/certificates.ts';
import { drawScenes, playScenes, type Scene } from '../wire/scene.ts';

const megabyte = 1024 * 1024;
/** An attempt that had begun before the end of the fault, and its deadline. */
const mostHealSeconds = 16;

const tableAnswers: readonly (readonly [name: string, code: RegExp, fault: LogsFault])[] = [
  ['300 KB that become 300 MB', /^answer-too-long$/, 'gzip-bomb'],
  ['an answer without an end', /^answer-too-long$/, 'endless'],
  ['brackets without an end', /^(answer-too-long|http-400)$/, { status: 400, body: '['.repeat(10 * megabyte) }],
  ['60 KB of brackets', /^http-500$/, { status: 500, body: '['.repeat(60_000) }],
  ['a header of 1 MB', /./, { status: 204, headers: { 'x-filler': 'x'.repeat(megabyte) } }],
  ['redirects in a circle', /^http-307$/, { status: 307, headers: { location: '/again' } }],
  ['the page of a portal', /^http-200$/, { status: 200, body: '<html>Accept the terms of use</html>' }],
];

const tableScene = ([name, code, fault]: (typeof tableAnswers)[number]): Scene => ({
  name: `table: ${name}`,
  sinks: ['log-analytics'],
  code,
  begin: ({ azure }) => azure.logAnalytics.fault(fault),
  end: ({ azure }) => azure.logAnalytics.fault(null),
  heals: 'preempt',
  mostHealSeconds,
  happened: ({ azure }) => azure.logAnalytics.requests.filter(({ status }) => status !== 204).length || 1,
});

/** A frame with this size and data offset, in front of these bytes. */
function frame(size: number, dataOffset: number, ...body: number[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size);
  head.writeUInt8(dataOffset, 4);
  head.writeUInt8(1, 5);
  return Buffer.concat([Buffer.from('AMQP\x03\x01\x00\x00', 'latin1'), head, Buffer.from(body)]);
}
/** `sasl-mechanisms`, described by 0x40, as a list32 of four thousand million items. */
const hugeList = [0, 0x53, 0x40, 0xd0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

const hubAnswers: readonly (readonly [name: string, answer: Buffer, isEndless: boolean])[] = [
  ['a frame of 4 GB, and the bytes to fill it', frame(0xffffffff, 2), true],
  ['a frame of size 0', frame(0, 2), false],
  ['a list of four thousand million items', frame(24, 2, ...hugeList), false],
];

const hubScene = ([name, answer, isEndless]: (typeof hubAnswers)[number], certificates: TestCertificates): Scene => ({
  name: `hub: ${name}`,
  sinks: ['event-hubs'],
  code: /./,
  configuration: certificates.configuration,
  begin: ({ hub }) => hub.set({ certificate: certificates.good, answer, isEndless }),
  end: ({ hub }) => hub.set('pass'),
  heals: 'preempt',
  mostHealSeconds,
  happened: ({ hub }) => hub.faulted,
});

const documents: readonly ImdsFault[] = [
  'huge',
  { status: 200, body: '['.repeat(megabyte) },
  { status: 200, headers: { 'x-filler': 'x'.repeat(megabyte) }, body: '{}' },
  { status: 200, headers: { 'content-encoding': 'gzip' }, body: '\x1f\x8b\x08' },
  'cut-off',
  'redirect',
];

/** One answer after the other in turn, a second each: no document is seen, and no poll is missed. */
function imdsScene(): Scene {
  let timer: NodeJS.Timeout | undefined;
  return {
    name: 'metadata service: each wrong answer in turn',
    sinks: [],
    code: /^http-302$/,
    begin({ azure }) {
      let turn = 0;
      const next = (): void => {
        azure.imds.fault('scheduledevents', documents[turn % documents.length] ?? null);
        turn += 1;
      };
      next();
      timer = setInterval(next, 1100);
    },
    end({ azure }) {
      clearInterval(timer);
      azure.imds.fault('scheduledevents', null);
    },
    heals: 'retries',
    mostHealSeconds: 8,
    happened: ({ azure }) => azure.imds.requests('scheduledevents'),
  };
}

/** Answers that would fill the memory, never end, or lead elsewhere. */
export const hostileAnswers: FaultTest = {
  id: 'hostile-answers',
  title: 'answers that are huge, endless, deep, malformed or lead elsewhere, from every service',
  kind: 'processes',
  cases: { quick: 11, full: 55 },
  load: { seconds: 25, processors: 0.5 },
  async run(context) {
    const certificates = await makeCertificates(context.directory);
    const scenes: readonly Scene[] = [
      imdsScene(),
      ...hubAnswers.map((answer) => hubScene(answer, certificates)),
      ...tableAnswers.map(tableScene),
    ];
    return await playScenes(drawScenes(scenes, context), context, 5);
  },
};
