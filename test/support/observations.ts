import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import type { HostEvidence, Observer, PollResult, ScheduledEvent } from '../../src/lifecycle/scheduled-event.ts';
import type { LifecycleState } from '../../src/lifecycle/state.ts';
import { emptyState } from '../../src/lifecycle/state.ts';
import { gapAfterMs, transition } from '../../src/lifecycle/transition.ts';
import { valid } from './published-schema.ts';

/** The lifecycle of scheduled events as one VM observes it, poll by poll. Times are seconds after noon. */
export const noon = Date.parse('2026-03-01T12:00:00.000Z');

/** `at(90)` is 12:01:30. */
export const at = (seconds: number): string => new Date(noon + seconds * 1000).toISOString();

export const observerNamed = (vmName: string, rest: Partial<Observer> = {}): Observer => ({
  computer: `host-of-${vmName}`,
  vmId: `00000000-0000-4000-8000-${Buffer.from(vmName).toString('hex').padStart(12, '0').slice(-12)}`,
  vmName,
  resourceId: `/subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachines/${vmName}`,
  subscriptionId: 's',
  resourceGroup: 'rg',
  vmScaleSetName: null,
  vmScaleSetResourceId: null,
  placementGroupId: null,
  location: 'westeurope',
  zone: null,
  physicalZone: null,
  faultDomain: '0',
  updateDomain: '0',
  vmSize: 'Standard_D2s_v5',
  vmPriority: null,
  osType: 'Linux',
  imageReference: 'Canonical:ubuntu-24_04-lts:server:latest',
  azureEnvironment: 'AzurePublicCloud',
  tags: {},
  ...rest,
});

/** An event as Azure would list it: by default a Freeze of web_0, fifteen minutes ahead of noon. */
export function event(given: Partial<Omit<ScheduledEvent, 'raw'>> = {}): ScheduledEvent {
  const listed = {
    eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    eventStatus: 'Scheduled',
    eventType: 'Freeze',
    resourceType: 'VirtualMachine',
    resources: ['web_0'],
    notBefore: at(900),
    description: 'Virtual machine is being paused.',
    eventSource: 'Platform',
    durationSeconds: 5,
    ...given,
  };
  return { ...listed, raw: { ...listed } };
}

/** The same event once started: Azure blanks its notBefore. */
export const started = (scheduled: ScheduledEvent, given: Partial<Omit<ScheduledEvent, 'raw'>> = {}): ScheduledEvent =>
  event({ ...scheduled, eventStatus: 'Started', notBefore: null, ...given });

/** One observation. Everything but the events has a default: one second later, the next incarnation when the events differ. */
export interface ObservationSpec {
  readonly events: readonly ScheduledEvent[];
  readonly after?: number;
  readonly incarnation?: number;
  readonly unreadable?: number;
  readonly bootId?: string | null;
  readonly physicalHost?: string | null;
  readonly pauseMs?: number;
  /** Milliseconds that the wall clock ran ahead; with a pause, or alone: an NTP step. */
  readonly wallStepMs?: number;
  readonly clockOffsetSeconds?: number;
  /** How far our clock is ahead of the true time; the offset to Azure's follows from it. */
  readonly clockAheadSeconds?: number;
  /** The answer has no `Date`. */
  readonly dateless?: boolean;
  /** The answer was made this long before it arrived: it gives no offset. */
  readonly underWaySeconds?: number;
  readonly kind?: 'document' | 'unchanged' | 'unavailable';
  /** The observer is not known yet at this observation. */
  readonly unknownObserver?: boolean;
  /** Applied to the state just before the observation: a crash, an approval. */
  readonly meanwhile?: (state: LifecycleState) => LifecycleState;
}

/** An empty array, as the first poll usually returns. */
export const nothing: ObservationSpec = { events: [] };

export interface ObserveResult {
  readonly records: readonly LifecycleRecord[];
  readonly state: LifecycleState;
  readonly appeared: { readonly seen: number; readonly ours: number };
}

/** A stream with no snapshot due. */
export const settled: LifecycleState = { ...emptyState('stream-of-the-test'), snapshotDue: false };

/** Observes, decides and remembers, one observation after the other, without disk or network. */
export function observe(
  observations: readonly ObservationSpec[],
  {
    observer = observerNamed('web_0'),
    witnessRate = 0,
    state: before = settled,
    from = noon,
    enablingMs = 0,
    confirms = true,
  }: {
    readonly observer?: Observer;
    readonly witnessRate?: number;
    readonly state?: LifecycleState;
    readonly from?: number;
    readonly enablingMs?: number;
    /** A second document at once confirms every absence: unset where the waiting is the point. */
    readonly confirms?: boolean;
  } = {},
): ObserveResult {
  let state = before;
  let time = from;
  // The monotonic clock stops where the other one ran ahead of it.
  let stoodMs = 0;
  let incarnation = before.incarnation ?? 0;
  let listed = '';
  let document: ObservationSpec = nothing;
  let host: { bootId: string | null; physicalHost: string | null } = { bootId: 'boot-1', physicalHost: null };
  const appeared = { seen: 0, ours: 0 };
  const records: LifecycleRecord[] = [];
  for (const observation of observations) {
    time += 1000 * (observation.after ?? 1);
    const content = JSON.stringify(observation.events);
    incarnation = observation.incarnation ?? (content === listed ? incarnation : incarnation + 1);
    listed = content;
    host = {
      bootId: observation.bootId === undefined ? host.bootId : observation.bootId,
      physicalHost: observation.physicalHost === undefined ? host.physicalHost : observation.physicalHost,
    };
    const evidence: HostEvidence = {
      ...host,
      tick: observation.pauseMs === undefined ? null : { longestMs: observation.pauseMs, totalMs: observation.pauseMs },
      wallStepMs: observation.wallStepMs ?? 0,
    };
    stoodMs += observation.wallStepMs ?? 0;
    const ownTime = time + 1000 * (observation.clockAheadSeconds ?? 0);
    const given = {
      host: evidence,
      observer: observation.unknownObserver ? null : observer,
      scope: { witnessRate },
      gapAfterMs: gapAfterMs(1),
      enablingMs,
      bridgeVersion: '1.2.3',
      at: new Date(ownTime),
      monotonicMs: time - stoodMs,
    };
    const turn = transition(observation.meanwhile?.(state) ?? state, seenOf(observation, incarnation, ownTime), given);
    state = turn.state;
    records.push(...turn.records);
    if (observation.kind !== 'unchanged' && observation.kind !== 'unavailable') document = observation;
    if (confirms && [...state.events.values()].some(({ absent }) => absent && !absent.facts.settling)) {
      const again = transition(state, seenOf(document, incarnation + 1, ownTime), {
        ...given,
        host: { ...evidence, tick: null, wallStepMs: 0 },
      });
      state = { ...again.state, incarnation: state.incarnation };
      records.push(...again.records);
    }
    appeared.seen += turn.appeared.seen;
    appeared.ours += turn.appeared.ours;
  }
  return { records: valid(records), state, appeared };
}

function seenOf(observation: ObservationSpec, incarnation: number, time: number): PollResult {
  const clockOffsetSeconds = observation.clockOffsetSeconds ?? -(observation.clockAheadSeconds ?? 0) + 0;
  const { dateless, underWaySeconds = 0 } = observation;
  const clock = {
    azureTime: dateless ? null : new Date(time + 1000 * (clockOffsetSeconds - underWaySeconds)),
    clockOffsetSeconds: dateless || underWaySeconds > 0 ? null : clockOffsetSeconds,
  };
  if (observation.kind === 'unavailable') {
    return { kind: 'unavailable', code: 'http-503', reason: 'busy', retryAfterMs: null };
  }
  if (observation.kind === 'unchanged') return { kind: 'unchanged', ...clock };
  const document = { incarnation, events: observation.events, unreadable: observation.unreadable ?? 0 };
  return { kind: 'document', document, imdsApiVersion: '2020-07-01', ...clock };
}

/** The records in one line each: `Started: said-by-azure`. */
export const phaseLines = (records: readonly LifecycleRecord[]): string[] =>
  records.map(({ phase, evidence }) => `${phase}: ${evidence.join(' ')}`);
