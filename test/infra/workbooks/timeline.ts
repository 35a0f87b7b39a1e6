import type { GivenRow } from '../../tools/kql/index.ts';

/** What happened to VMs, written manually, and the rows of the two tables that their bridges make of it. It shares nothing with `src`. */
export interface Timeline {
  readonly vms: readonly Vm[];
  readonly events?: readonly Happening[];
  readonly heartbeats?: readonly Beat[];
}

export interface Vm {
  readonly name: string;
  /** What events and heartbeats call it, where two VMs have one name. Default: its name. */
  readonly key?: string;
  /** Scale set. Default `web`; empty for none. */
  readonly set?: string;
  readonly group?: string;
  readonly subscription?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly domain?: string;
  readonly size?: string;
  /** Default Linux. */
  readonly os?: 'Windows';
  readonly version?: string;
}

/** Times are `15 10:00:00`, of March 2026. */
export interface Happening {
  readonly vm: string;
  readonly event: string;
  readonly type: string;
  readonly announced: string;
  readonly notBefore: string;
  /** Seconds that Azure announced. Default: unknown. */
  readonly said?: number;
  /** When the VM saw it start; left out where it went down before it could see that. */
  readonly started?: string;
  /** When the VM was down. It reports that when it is back. */
  readonly down?: readonly [from: string, until: string];
  readonly pausedMs?: number;
  readonly noticeSeconds?: number;
  /** When its bridge approved it. */
  readonly approved?: string;
  readonly ended?: string;
  readonly outcome?: 'Completed' | 'Canceled';
}

export interface Beat {
  readonly vm: string;
  readonly at: string;
  readonly lastPosition?: number;
  /** Event that it names as the next one. */
  readonly next?: Pick<Happening, 'event' | 'type' | 'notBefore'>;
}

const timeOf = (text: string): string => `2026-03-${text.replace(' ', 'T')}.000Z`;
const secondsBetween = (from: string, until: string): number =>
  (Date.parse(timeOf(until)) - Date.parse(timeOf(from))) / 1000;

/** The time at which a timeline is queried. */
export const moment = (text: string): Date => new Date(timeOf(text));

const traits = ({
  name,
  set = 'web',
  group = 'shop',
  subscription = 's1',
  region = 'westeurope',
  version = '1.0.0',
  os = undefined,
}: Vm) => {
  const kind = set === '' ? `virtualmachines/${name}` : `virtualmachinescalesets/${set}/virtualmachines/${name}`;
  const id = `/subscriptions/${subscription}/resourcegroups/${group}/providers/microsoft.compute/${kind}`;
  return {
    Computer: name,
    VmName: name,
    VmId: `id of ${id}`,
    ResourceId: id,
    SubscriptionId: subscription,
    ResourceGroup: group,
    VmScaleSetName: set,
    Location: region,
    BridgeVersion: version,
    OsType: os ?? 'Linux',
    StreamId: `stream of ${id}`,
    ClockOffsetSeconds: 0,
    IsTest: false,
  };
};

const vmOf = (timeline: Timeline, name: string): Vm => {
  const found = timeline.vms.find((vm) => (vm.key ?? vm.name) === name);
  if (!found) throw new Error(`the timeline has no VM ${name}`);
  return found;
};

/** The rows of both tables. */
export function rowsOf(timeline: Timeline): { VmLifecycle_CL: GivenRow[]; VmLifecycleBridge_CL: GivenRow[] } {
  const positions = new Map<string, number>();
  const next = (vm: string): number => {
    const position = (positions.get(vm) ?? 0) + 1;
    positions.set(vm, position);
    return position;
  };
  return {
    VmLifecycle_CL: (timeline.events ?? []).flatMap((event) => recordsOf(event, vmOf(timeline, event.vm), next)),
    VmLifecycleBridge_CL: (timeline.heartbeats ?? []).map((beat) => heartbeatOf(beat, vmOf(timeline, beat.vm))),
  };
}

interface StepOfEvent {
  readonly phase: string;
  readonly at: string;
  readonly evidence: string;
  readonly more?: GivenRow;
}

function stepsOf({
  announced,
  started,
  down,
  pausedMs,
  noticeSeconds,
  approved,
  ended,
  outcome,
}: Happening): StepOfEvent[] {
  const begun = started ?? down?.[1];
  return [
    { phase: 'Scheduled', at: announced, evidence: 'said-by-azure' },
    ...(approved === undefined ? [] : [{ phase: 'Approved', at: approved, evidence: 'accepted' }]),
    ...(begun === undefined
      ? []
      : [
          {
            phase: 'Started',
            at: begun,
            evidence: 'said-by-azure',
            more: { StartedAt: timeOf(begun), StartSeen: started !== undefined },
          },
        ]),
    ...(ended === undefined
      ? []
      : [
          {
            phase: outcome ?? 'Completed',
            at: ended,
            evidence: 'not-before-passed',
            more: {
              ...(begun === undefined ? {} : { StartedAt: timeOf(begun), StartSeen: started !== undefined }),
              NoticeSeconds: noticeSeconds ?? null,
              ObservedOutageSeconds: down === undefined ? null : secondsBetween(...down),
              ObservedPauseMs: pausedMs ?? null,
              ObservedPauseTotalMs: pausedMs ?? null,
            },
          },
        ]),
  ];
}

function recordsOf(happening: Happening, vm: Vm, next: (vm: string) => number): GivenRow[] {
  const { event, type, announced, notBefore, said = -1 } = happening;
  return stepsOf(happening).map(({ phase, at, evidence, more }, index) => ({
    ...traits(vm),
    TimeGenerated: timeOf(at),
    RecordId: `${event} ${happening.vm} ${phase}`,
    TransitionId: `${event} ${phase}`,
    EventId: event,
    EventType: type,
    EventSource: 'Platform',
    AffectedResources: [vm.name],
    AffectedResourceCount: 1,
    NotBefore: timeOf(notBefore),
    DurationInSeconds: said,
    Phase: phase,
    Evidence: [evidence],
    Sequence: index + 1,
    Position: next(happening.vm),
    ObservedAt: timeOf(at),
    FirstSeenAt: timeOf(announced),
    ObserverAffected: true,
    Zone: vm.zone ?? '',
    FaultDomain: vm.domain ?? '',
    VmSize: vm.size ?? 'Standard_D4s_v5',
    ...more,
  }));
}

const heartbeatOf = ({ vm: _, at, lastPosition = 0, next }: Beat, vm: Vm): GivenRow => ({
  ...traits(vm),
  TimeGenerated: timeOf(at),
  State: 'running',
  IntervalMinutes: 60,
  LastPosition: lastPosition,
  ...(next === undefined
    ? {}
    : {
        NextEventId: next.event,
        NextEventType: next.type,
        NextEventSource: 'Platform',
        NextNotBefore: timeOf(next.notBefore),
      }),
});

/** `count` VMs of a scale set: `web_0`, `web_1` … */
export const web = (count: number, given: Partial<Vm> = {}): Vm[] =>
  Array.from({ length: count }, (_, number) => ({ name: `web_${number}`, ...given }));
/** A heartbeat of a VM at each of the hours of a day. */
export const hourly = (vm: string, day: string, hours: readonly number[], given: Partial<Beat> = {}): Beat[] =>
  hours.map((hour) => ({ vm, at: `${day} ${String(hour).padStart(2, '0')}:00:00`, ...given }));
export const hoursOf = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

export const reboot = (
  vm: string,
  given: Partial<Happening> & Pick<Happening, 'announced' | 'notBefore'>,
): Happening => ({
  vm,
  event: `reboot of ${vm}`,
  type: 'Reboot',
  ...given,
});
