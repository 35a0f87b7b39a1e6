import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../fleet-model/random.ts';
import type { BridgeProcess } from '../../support/bridge-process.ts';
import { until } from '../../support/until.ts';
import type { FleetUnderTest, Vm } from '../fleet/fleet-under-test.ts';

/** A state in which a bridge is asked to stop. */
export interface StopState {
  readonly id: string;
  /** Starts a bridge and brings it into the state; resolves with it at the moment of the first SIGTERM. */
  enter(fleet: FleetUnderTest, vm: Vm, random: Random): Promise<BridgeProcess>;
  /** A second SIGTERM, once this line was logged, ends it at once. */
  readonly secondAfter?: string;
  /** How many are pending for each sink: what was in flight is sent again. Default: 1. */
  readonly records?: number;
  /** How it may end. Default: with 0. */
  readonly ends?: readonly (number | NodeJS.Signals)[];
}

const stopping = 'The bridge is stopping';

export const stopStates: readonly StopState[] = [
  { id: 'idle', enter: startPolling },
  {
    id: 'waiting for the metadata service',
    async enter(fleet, vm) {
      const bridge = await startPolling(fleet, vm);
      const { imds } = fleet.azure;
      imds.fault('scheduledevents', 'hang');
      const polls = imds.polls[vm.name] ?? 0;
      await until(() => (imds.polls[vm.name] ?? 0) > polls, { what: 'a poll that is not answered' });
      return bridge;
    },
  },
  { id: 'sending to silent sinks', enter: (fleet, vm) => startSending(fleet, vm) },
  {
    id: 'sending to sinks that acknowledge too late',
    enter: (fleet, vm) => startSending(fleet, vm, () => setFaults(fleet, { delayMs: 60_000 }, { delayMs: 60_000 })),
  },
  {
    // Sent to the end, they would take half a minute.
    id: 'sending a backlog to slow sinks',
    records: 150,
    enter: (fleet, vm) => startSending(fleet, vm, () => setFaults(fleet, { delayMs: 3_000 }, { delayMs: 3_000 }), 150),
  },
  {
    id: 'in back-off',
    async enter(fleet, vm) {
      const bridge = await startSending(fleet, vm, () => setFaults(fleet, 'server-busy', { status: 429 }));
      const isRefused = ({ sink, level }: BridgeProcess['log'][number]): boolean =>
        level === 'warn' && sink !== undefined;
      await until(() => new Set(bridge.log.filter(isRefused).map(({ sink }) => sink)).size === 2, {
        what: 'refusals by both sinks',
      });
      return bridge;
    },
  },
  {
    id: 'starting and opening the outbox',
    ends: [0, 143, 'SIGTERM'],
    async enter(fleet, vm, random) {
      // What the first one leaves is pending while the second one opens it.
      const first = await startSending(fleet, vm);
      first.kill('SIGKILL');
      await first.exited;
      setFaults(fleet, null, null);
      const bridge = fleet.startBridge(vm);
      await sleep(random.int(20, 500));
      return bridge;
    },
  },
  {
    id: 'draining, and a second SIGTERM',
    enter: (fleet, vm) => startSending(fleet, vm),
    secondAfter: stopping,
    ends: [143],
  },
];

async function startPolling(fleet: FleetUnderTest, vm: Vm): Promise<BridgeProcess> {
  const bridge = fleet.startBridge(vm);
  const polls = (): number => fleet.azure.imds.polls[vm.name] ?? 0;
  const before = polls();
  await until(() => polls() > before + 1, { what: 'polls' });
  return bridge;
}

/** Both sinks have a request, or are asked for one, and do not answer it. */
async function startSending(
  fleet: FleetUnderTest,
  vm: Vm,
  setFault: () => void = () => setFaults(fleet, 'silent', 'hang'),
  events = 1,
): Promise<BridgeProcess> {
  const bridge = await startPolling(fleet, vm);
  setFault();
  const { azure, announced } = fleet;
  const notBefore = new Date(Date.now() + 900_000);
  for (let n = 0; n < events; n += 1) {
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: [vm.name], notBefore, durationSeconds: 5 });
    announced.push({ eventId, eventType: 'Freeze', steps: ['scheduled'] });
  }
  await until(() => bridge.log.some(({ phase }) => phase === 'Scheduled'), { what: 'the record' });
  // As long as what sends takes to start and to connect.
  await sleep(1500);
  return bridge;
}

function setFaults(
  { azure: { eventHubs, logAnalytics } }: FleetUnderTest,
  hub: Parameters<typeof eventHubs.fault>[0],
  table: Parameters<typeof logAnalytics.fault>[0],
): void {
  eventHubs.fault(hub);
  logAnalytics.fault(table);
}

/** Everything works again. */
export function clearFaults(fleet: FleetUnderTest): void {
  fleet.azure.imds.fault('scheduledevents', null);
  setFaults(fleet, null, null);
}
