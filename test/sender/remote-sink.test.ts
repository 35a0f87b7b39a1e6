import { afterAll, beforeAll } from 'vitest';
import type { EventHubsFault, LogsFault } from '../../src/azure-simulator/index.ts';
import type { Senders } from '../../src/sender/senders.ts';
import type { Sink } from '../../src/sinks/sink.ts';
import { type Misbehaviour, passesTheContract, type SinkUnderTest } from '../sinks/contract.ts';
import { type LocalAzure, startLocalAzure } from '../support/local-azure.ts';
import { sampleEntry } from '../support/sample-record.ts';
import { openTestSenders } from './open-senders.ts';

let local: LocalAzure;
beforeAll(async () => {
  local = await startLocalAzure();
});
afterAll(async () => {
  await kept?.close();
  await local.close();
});

/** Their processes serve one test after the other, until one closes them. */
let kept: Senders | null = null;
async function keptSenders(): Promise<Senders> {
  kept ??= await openTestSenders(local.azure);
  return kept;
}

const knows = { throttling: true, malformed: true, tooLarge: true };
const tooMuch = Array.from({ length: 20 }, (_, index) =>
  sampleEntry({ sequence: index, description: 'x'.repeat(60_000) }),
);

/** The real sinks keep the deadlines of production here: 10 s for an exchange of AMQP, 15 s for an upload. */
const timeoutMs = 20_000;

function sinkOf(senders: Senders, name: string): Sink {
  const sink = senders.sinks.find((one) => one.name === name);
  if (!sink) throw new Error(`there is no ${name}`);
  const close = (): Promise<void> => {
    if (kept === senders) kept = null;
    return senders.close();
  };
  return { ...sink, close };
}

const hubFaults: Record<Misbehaviour, EventHubsFault> = {
  throttled: 'server-busy',
  silent: 'silent',
  refused: 'unauthorized',
  malformed: { reject: 'com.microsoft:argument-error' },
};

passesTheContract(
  'the event hub in a process of its own',
  async (): Promise<SinkUnderTest> => {
    const hub = local.azure.eventHubs;
    const before = hub.events().length;
    const next = await openTestSenders(local.azure);
    let sink = sinkOf(await keptSenders(), 'event-hubs');
    const arrived = () => hub.events().slice(before);
    return {
      get sink() {
        return sink;
      },
      arrived: () => arrived().map(({ messageId }) => String(messageId)),
      contents: () => arrived().map(({ body }) => body.toString()),
      misbehave(how) {
        hub.fault(how && hubFaults[how]);
        // A refusal is met where a connection is made.
        if (how === 'refused') {
          void sink.close();
          kept = next;
          sink = sinkOf(next, 'event-hubs');
        }
      },
      timeoutMs,
      tooMuch,
      isKept: true,
    };
  },
  knows,
);

const tableFaults: Record<Misbehaviour, LogsFault> = {
  throttled: { status: 429, headers: { 'retry-after': '7' } },
  silent: 'hang',
  refused: { status: 403 },
  malformed: { refuseRows: () => true },
};

passesTheContract(
  'Log Analytics in a process of its own',
  async (): Promise<SinkUnderTest> => {
    const table = local.azure.logAnalytics;
    const before = table.rows().length;
    const arrived = () => table.rows().slice(before);
    return {
      sink: sinkOf(await keptSenders(), 'log-analytics'),
      arrived: () => arrived().map(({ RecordId }) => String(RecordId)),
      contents: () => arrived().map((row) => JSON.stringify(row)),
      misbehave: (how) => table.fault(how && tableFaults[how]),
      timeoutMs,
      tooMuch,
      isKept: true,
    };
  },
  knows,
);
