/** What the server answers and the page draws. Times are milliseconds since 1970, by Azure's clock. */

export interface PageView extends FleetAnswer {
  readonly reading: {
    /** Until then, an event that looks open may have ended. */
    readonly isHistoryRead: boolean;
    /** Why a part of the hub cannot be read at present. */
    readonly problems: readonly string[];
    /** What is missing from what was read. */
    readonly notes: readonly string[];
  };
}

export interface FleetAnswer {
  readonly now: number;
  /** When the newest record was observed; null: there is none. */
  readonly lastRecordAt: number | null;
  /** When the oldest record that is kept was observed; null: there is none. */
  readonly firstRecordAt: number | null;
  readonly knownVms: number;
  /** Lanes are missing that a filter excludes. */
  readonly isFiltered: boolean;
  readonly choices: Choices;
  readonly tiles: readonly Tile[];
  readonly open: Limited<OpenEvent>;
  readonly calendar: Calendar;
  readonly swimlanes: Swimlanes;
  readonly capacity: readonly CapacityPanel[];
  readonly past: Limited<PastEvent>;
}

/** The first rows; `total` is the number of all. */
export interface Limited<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** What the filters offer. */
export interface Choices {
  readonly types: readonly string[];
  /** `<resource group>/<scale set>`. */
  readonly sets: readonly string[];
  /** `<name>:<value>`. */
  readonly tags: readonly string[];
}

export interface Tile {
  readonly name: string;
  readonly meaning: string;
  readonly vms: number;
  readonly urgency: Urgency;
}

export type Urgency = 'act' | 'watch' | 'fine';

/** The words of the workbook; `nothing reported`: for a day since it was due, so its VM may be gone. */
export type OpenState =
  | 'stuck'
  | 'due'
  | 'at any moment'
  | 'within the hour'
  | 'announced'
  | 'in progress'
  | 'nothing reported';

export interface EventSummary {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventSource: string;
  /** The first few names; `vmCount` is how many there are. */
  readonly vms: readonly string[];
  readonly vmCount: number;
  /** VMs that it affects as well, and that no record names, because the list was cut. */
  readonly unnamedVms: number;
  /** A test command made it. */
  readonly isTest: boolean;
  readonly sets: readonly string[];
  readonly places: readonly string[];
}

export interface OpenEvent extends EventSummary {
  readonly state: OpenState;
  readonly notBefore: number | null;
  readonly startedAt: number | null;
  /** False: it started while no bridge polled, so `startedAt` is the latest possible time. */
  readonly isStartSeen: boolean;
  /** When it was reported last, if its state is `nothing reported`. */
  readonly silentSince: number | null;
  /** What Azure expects, in seconds; null: unknown. */
  readonly expectedSeconds: number | null;
}

export interface PastEvent extends EventSummary {
  readonly announcedAt: number | null;
  readonly startedAt: number | null;
  readonly isStartSeen: boolean;
  readonly endedAt: number | null;
  /** Null: presumed. */
  readonly outcome: string | null;
  /** The longest outage that a VM measured. */
  readonly downSeconds: Measured | null;
  /** The longest time for which a VM measured that it was paused. */
  readonly pausedMs: Measured | null;
}

/** What a VM measured. */
export interface Measured {
  readonly value: number;
  /** It may belong to another event. */
  readonly isAmbiguous: boolean;
}

export interface Calendar {
  /** `Due`, `Today`, `Tomorrow`, dates, `Later`. */
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly (readonly CalendarEntry[])[] }[];
}

export interface CalendarEntry {
  /** `03:35`, with the date where the column has none. */
  readonly time: string;
  /** `Reboot × 12`. */
  readonly label: string;
  readonly eventType: string;
  /** One of them. */
  readonly eventId: string;
}

export interface Swimlanes {
  readonly from: number;
  readonly to: number;
  /** VMs of a scale set stand together, those of a fault domain side by side. */
  readonly rows: readonly SwimlaneRow[];
  readonly totalVms: number;
}

export interface SwimlaneRow {
  readonly name: string;
  /** Scale set; null: in none. */
  readonly set: string | null;
  /** `<zone>/<fault domain>`. */
  readonly place: string;
  readonly lanes: readonly SwimlaneEvent[];
}

export interface SwimlaneEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly announcedAt: number | null;
  readonly notBefore: number | null;
  readonly startedAt: number | null;
  readonly isStartSeen: boolean;
  /** When it was over, as reported or presumed; null: it is open. */
  readonly overAt: number | null;
  /** When it was reported last, if nothing was for a day since it was due. */
  readonly silentSince: number | null;
  readonly outcome: string | null;
  readonly down: readonly [from: number, until: number] | null;
  readonly pausedMs: number | null;
  readonly isAmbiguous: boolean;
  readonly isOwn: boolean;
}

/** VMs that were unavailable at the same time, by one way of grouping them. */
export interface CapacityPanel {
  readonly by: 'Scale set' | 'Zone' | 'Fault domain';
  readonly groups: readonly CapacityGroup[];
  readonly total: number;
  /** VMs on which Azure was at work, and of which no record says where they run, because they have no bridge. */
  readonly unplacedVms: number;
}

export interface CapacityGroup {
  readonly name: string;
  readonly knownVms: number;
  readonly down: StepSeries;
  readonly inProgress: StepSeries;
}

export interface StepSeries {
  /** Most at once, and when first. */
  readonly most: number;
  readonly mostAt: number | null;
  /** The number of VMs from each time on. */
  readonly steps: readonly (readonly [at: number, vms: number])[];
}

export interface Trace {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventSource: string;
  readonly description: string | null;
  readonly notBefore: number | null;
  readonly expectedSeconds: number | null;
  /** One sentence: open, over and by which evidence, or presumed to be over. */
  readonly outcome: string;
  readonly steps: readonly TraceStep[];
  readonly views: Limited<TraceView>;
  /** Named by the event, without a report of their own. */
  readonly silent: readonly string[];
}

export interface TraceStep {
  readonly at: number;
  readonly phase: string;
  readonly evidence: readonly string[];
  /** `notBefore: … → …`. */
  readonly changes: readonly string[];
  readonly reportedBy: string;
  /** The end that counts, of those that VMs reported. */
  readonly isEnd: boolean;
}

export interface TraceView {
  readonly vm: string;
  readonly place: string;
  readonly role: 'affected' | 'witness' | 'no longer affected';
  readonly phase: string;
  readonly at: number;
  readonly evidence: readonly string[];
  readonly noticeSeconds: number | null;
  readonly startedSeconds: number | null;
  readonly pausedMs: number | null;
  readonly longestPauseMs: number | null;
  readonly downSeconds: number | null;
  /** `from → to` if it moved. */
  readonly host: string | null;
  /** Records of this VM about the event that never arrived. */
  readonly missing: number;
}
