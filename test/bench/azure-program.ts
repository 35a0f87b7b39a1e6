import { bridgeConfiguration } from '../../src/azure-simulator/cli/addresses.ts';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { createCalls, type Handlers } from '../../src/sender/calls.ts';
import { parentPort } from '../../src/sender/channel.ts';

export type Configuration = ReturnType<typeof bridgeConfiguration>;

/** What the program below offers. */
export type AzureMethods = {
  /** One with the certificates of the same directory trusts the tokens of the others. */
  open(options: { readonly directory: string; readonly vms: readonly string[] }): void;
  configuration(of: { readonly vm: string; readonly stateDirectory: string }): Configuration;
  counts(value: null): { readonly events: number; readonly rows: number };
  polls(vm: string): number;
  /** Changes the document at random times, `everyMs` apart on average, `times` times or until `stop`, and notes what follows. */
  change(plan: ChangePlan): readonly Change[];
  stop(value: null): void;
  /** This destination refuses everything as too much; null: none does. */
  throttle(destination: Destination | null): void;
  /** When this VM polled while the document was being changed. */
  pollTimes(vm: string): readonly number[];
};

export interface ChangePlan {
  readonly vms: readonly string[];
  readonly eventType: string;
  readonly times: number;
  readonly everyMs: number;
  /** What has to hold each record before the next change. */
  readonly sinks: readonly Destination[];
}

export type Destination = 'hub' | 'table';

/** One event, and when one VM polled it first and each destination stored its record; milliseconds, null: not yet. */
export interface Change extends Readonly<Record<Destination, number | null>> {
  readonly vm: string;
  readonly at: number;
  readonly polled: number | null;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

let azure: Awaited<ReturnType<typeof startAzureSimulator>> | null = null;
let isStopped = false;
const pollTimes = new Map<string, number[]>();

const opened = () => {
  if (azure === null) throw new Error('open was not called');
  return azure;
};

const pollsOf = (vm: string): number => opened().imds.requests('scheduledevents', vm);

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Which VM sent it: its resources name others too. */
const nameIn = (text: string): string | undefined => /"vmName":"([^"]*)"/i.exec(text)?.[1];

async function change({ vms, eventType, times, everyMs, sinks }: ChangePlan): Promise<readonly Change[]> {
  const { imds, eventHubs, logAnalytics } = opened();
  const found: Writable<Change>[] = [];
  let current = { eventId: '', changes: [] as Writable<Change>[] };
  let seen = { hub: eventHubs.events().length, table: logAnalytics.rows().length };
  const polls = new Map(vms.map((vm) => [vm, pollsOf(vm)]));

  const note = (): void => {
    const now = performance.now();
    for (const vm of vms) {
      const count = pollsOf(vm);
      if (count === polls.get(vm)) continue;
      polls.set(vm, count);
      pollTimes.set(vm, [...(pollTimes.get(vm) ?? []), now]);
      for (const one of current.changes) if (one.vm === vm) one.polled ??= now;
    }
    const texts = {
      hub: eventHubs
        .events()
        .slice(seen.hub)
        .map(({ body }) => body.toString()),
      table: logAnalytics
        .rows()
        .slice(seen.table)
        .map((row) => JSON.stringify(row)),
    };
    seen = { hub: seen.hub + texts.hub.length, table: seen.table + texts.table.length };
    for (const one of current.changes)
      for (const sink of sinks)
        if (texts[sink].some((text) => text.includes(current.eventId) && nameIn(text) === one.vm)) one[sink] ??= now;
  };

  const noting = setInterval(note, 1);
  const isDone = (): boolean => current.changes.every((one) => sinks.every((sink) => one[sink] !== null));
  for (let n = 0; n < times && !isStopped; n += 1) {
    await sleep(everyMs / 2 + Math.random() * everyMs);
    // A notice that makes nothing urgent, unless the type does.
    const at = performance.now();
    const eventId = imds.schedule({ eventType, resources: vms });
    current = { eventId, changes: vms.map((vm) => ({ vm, at, polled: null, hub: null, table: null })) };
    found.push(...current.changes);
    while (!isDone() && !isStopped) await sleep(5);
    imds.remove(eventId);
  }
  clearInterval(noting);
  return found;
}

const handlers: Handlers<AzureMethods> = {
  async open({ directory, vms }) {
    azure = await startAzureSimulator({ directory, vms: vms.map((name) => ({ name })) });
  },
  configuration: async ({ vm, stateDirectory }) => bridgeConfiguration(opened(), vm, stateDirectory),
  counts: async () => ({ events: opened().eventHubs.events().length, rows: opened().logAnalytics.rows().length }),
  polls: async (vm) => pollsOf(vm),
  change,
  async stop() {
    isStopped = true;
  },
  async throttle(destination) {
    opened().eventHubs.fault(destination === 'hub' ? 'server-busy' : null);
    opened().logAnalytics.fault(destination === 'table' ? { status: 429 } : null);
  },
  pollTimes: async (vm) => pollTimes.get(vm) ?? [],
};

const port = parentPort();
if (port) createCalls(port, handlers);
// Also where the bench was interrupted.
process.once('disconnect', () => process.exit());
