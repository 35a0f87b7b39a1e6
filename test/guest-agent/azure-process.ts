import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { hubRecords, tableRows } from '../support/delivered.ts';
import { playTimeline, type Timeline } from './timeline.ts';
import { type GivenGoal, startWireServer } from './wire-server.ts';

/** https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service */
const metadataAddress = '169.254.169.254';

/** What a test can have done in the process, which has a network of its own. */
export type AzureCalls = Awaited<ReturnType<typeof startAzure>>;

/** All that a VM reaches in Azure, on its real addresses. @param packages the folder of the packages of the extension. */
async function startAzure({ vm, extension, packages }: AzureOptions) {
  const azure = await startAzureSimulator({ host: metadataAddress, ports: { imds: 80 }, vms: [{ name: vm }] });
  const wire = await startWireServer(extension, packages);
  const { eventHubs, logAnalytics, ca } = azure;
  const { fullyQualifiedNamespace, customEndpoint, eventHubName } = eventHubs;
  const { endpoint, ruleId, streamName } = logAnalytics;
  const polls = watchPolls(() => azure.imds.polls[vm] ?? 0);
  let timeline: Timeline | null = null;
  return {
    addresses: () => ({
      ca,
      eventHubs: { fullyQualifiedNamespace, customEndpoint, eventHubName },
      logAnalytics: { endpoint, ruleId, streamName },
      // Over TLS instead of on the port of the emulator.
      connectionString: eventHubs.connectionString
        .replace(/Endpoint=[^;]+/, `Endpoint=sb://${fullyQualifiedNamespace}/`)
        .replace(';UseDevelopmentEmulator=true', ''),
    }),
    publish: (version: string) => wire.publish(version),
    want: (goal: GivenGoal) => wire.want(goal),
    status: () => wire.status,
    received: (text: string) => wire.received(text),
    beginTimeline: () => {
      timeline = playTimeline(azure, vm);
    },
    finishTimeline: async () => (await timeline?.finish()) ?? [],
    /** Requests for Scheduled Events, in milliseconds since the epoch. */
    polls: () => polls,
    records: () => hubRecords(azure),
    rows: () => tableRows(azure),
    errors: () => azure.errors.map(String),
  };
}

/** When the counter was seen to rise, to 20 ms. */
function watchPolls(counter: () => number): readonly number[] {
  const times: number[] = [];
  let before = counter();
  setInterval(() => {
    const now = counter();
    if (now !== before) times.push(Date.now());
    before = now;
  }, 20);
  return times;
}

/** Its first argument, as JSON. */
export interface AzureOptions {
  readonly vm: string;
  readonly extension: string;
  readonly packages: string;
}

export interface Call {
  readonly id: number;
  readonly name: keyof AzureCalls;
  readonly args: readonly unknown[];
}

export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

if (import.meta.main) {
  const calls = await startAzure(JSON.parse(process.argv[2] ?? '') as AzureOptions);
  process.on('message', async ({ id, name, args }: Call) => {
    const answer: Answer = await Promise.try(calls[name] as (...given: readonly unknown[]) => unknown, ...args).then(
      (value) => ({ id, value }),
      (error: unknown) => ({ id, error: String(error) }),
    );
    process.send?.(answer);
  });
  process.send?.({ id: 0 } satisfies Answer);
}
