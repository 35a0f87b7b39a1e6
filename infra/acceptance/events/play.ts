import { setTimeout as sleep } from 'node:timers/promises';
import type { EnqueuedRecord, Machine, Pace, Target } from '../target.ts';
import { sameId } from './checks.ts';
import { firstCopies, type Played, recordKey, rowKey, rowsQuery, type TableRow } from './played.ts';
import type { ExpectedStep, Scenario } from './scenario.ts';

export interface PlayContext {
  readonly target: Target;
  readonly machine: Machine;
  /** Another VM of the same scale set, which sees the event too and remains; null without one. */
  readonly sibling: Machine | null;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** How long to wait, in milliseconds. */
interface Waits {
  readonly pollMs: number;
  /** For the records of an event of the scenario. */
  readonly longestMs: (scenario: Scenario) => number;
  /** After the last record that is required, for those that a VM which is about to go may still send. */
  readonly lingerMs: number;
  /** Until hub and table have the same. */
  readonly rowsMs: number;
  /** Until a VM that was started again reports the end of the event. */
  readonly endMs: number;
  readonly isAwaited: (step: ExpectedStep) => boolean;
}

const waits: Readonly<Record<Pace['like'], Waits>> = {
  azure: {
    pollMs: 10_000,
    longestMs: ({ longestMinutes }) => longestMinutes * 60_000,
    lingerMs: 4 * 60_000,
    // The first rows of a new table take up to 15 minutes.
    rowsMs: 20 * 60_000,
    endMs: 5 * 60_000,
    isAwaited: ({ required }) => required,
  },
  simulator: {
    pollMs: 1_000,
    longestMs: () => Number.POSITIVE_INFINITY,
    lingerMs: 0,
    rowsMs: 20_000,
    endMs: 15_000,
    // A VM of the simulator goes once its start was delivered.
    isAwaited: ({ required, phase }) => required || phase === 'Started',
  },
};

/** Requests the operation, follows the event to its end, and collects all that is left of it. Rejects if the operation is refused, or on abort. */
export async function play(scenario: Scenario, context: PlayContext): Promise<Played> {
  const { target, machine, sibling, signal, say } = context;
  const approver = scenario.approvedBy === 'sibling' ? sibling : machine;
  if (approver === null)
    throw new Error(`There is no other VM in the scale set of ${machine.name} that could approve.`);
  const recorder = scenario.afterwards === 'deleted' && sibling !== null ? sibling : approver;
  await target.startRecording(recorder);
  const known = new Set((await target.readHub(hoursAgo(6))).map(({ record }) => record.eventId.toLowerCase()));
  const requestedAt = new Date();
  say(`${machine.name}: ${scenario.operation} requested`);
  await target.request(scenario.operation, machine, { approvalFollows: scenario.approvedBy !== null });
  const { snapshot, ...followed } = await follow(scenario, { ...context, approver }, { requestedAt, known });
  const recording = await collectRecording(scenario, context, recorder, snapshot);
  const collected = await collectRecords(scenario, context, { requestedAt, known, eventId: followed.eventId });
  signal.throwIfAborted();
  return { requestedAt, ...followed, recording, ...collected };
}

interface Followed extends Pick<Played, 'approvedAt' | 'approvalProblem' | 'eventId'> {
  /** The recording at the first record. Of a VM that is about to be deleted nothing later may be left. */
  readonly snapshot: string | null;
}

async function follow(
  scenario: Scenario,
  { target, machine, sibling, approver, signal, say }: PlayContext & { readonly approver: Machine },
  { requestedAt, known }: { readonly requestedAt: Date; readonly known: ReadonlySet<string> },
): Promise<Followed> {
  const pace = waits[target.pace.like];
  const deadline = Date.now() + Math.min(pace.longestMs(scenario), target.pace.mostMinutes * 60_000);
  let announcedAt: Date | null = null;
  let approval: Promise<string | null> | null = null;
  let snapshot: string | null = null;
  for (;;) {
    const all = await newRecords(target, machine, requestedAt, known);
    const eventId = eventIn(scenario, all);
    const records = all.filter(isOf(eventId));
    if (eventId !== null && announcedAt === null) {
      say(`${machine.name}: ${scenario.event?.type} ${eventId}`);
      if (scenario.afterwards === 'deleted' && sibling === null) {
        snapshot = await target.readRecording(machine).catch(() => null);
      }
      announcedAt = new Date();
      // Not awaited: on a VM that restarts at once, the command may never report its end.
      if (scenario.approvedBy !== null) approval = target.approve(approver, eventId).then(() => null, messageOf);
    }
    if (isOver(scenario, pace, records, requestedAt) || Date.now() > deadline) {
      const approvalProblem =
        approval === null ? null : await problemOf(approval, await target.readHub(shortlyBefore(requestedAt)), eventId);
      return { approvedAt: approval === null ? null : announcedAt, approvalProblem, snapshot, eventId };
    }
    await sleep(pace.pollMs, undefined, { signal });
  }
}

const messageOf = (error: Error): string => error.message;

/** Null if a VM reported that Azure accepted the approval, or the command that approves succeeded. */
async function problemOf(
  approval: Promise<string | null>,
  hub: readonly EnqueuedRecord[],
  eventId: string | null,
): Promise<string | null> {
  const isAccepted = hub.some(
    (one) => isOf(eventId)(one) && one.record.phase === 'Approved' && one.record.evidence.includes('accepted'),
  );
  return isAccepted ? null : await approval;
}

const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000);

/** The clocks of this machine and of the hub may differ by so much. */
const clocksMs = 10 * 60_000;
const shortlyBefore = (time: Date): Date => new Date(time.getTime() - clocksMs);

/** What the VM reported since the request, without events that were there before. */
const newRecords = async (
  target: Target,
  machine: Machine,
  requestedAt: Date,
  known: ReadonlySet<string>,
): Promise<readonly EnqueuedRecord[]> =>
  (await target.readHub(shortlyBefore(requestedAt))).filter(({ record }) => isNewOf(record, machine, known));

const isOf =
  (eventId: string | null) =>
  ({ record }: EnqueuedRecord): boolean =>
    eventId !== null && sameId(record.eventId, eventId);

const isNewOf = (record: EnqueuedRecord['record'], machine: Machine, known: ReadonlySet<string>): boolean =>
  sameId(record.vmName, machine.name) &&
  !record.isTest &&
  record.phase !== 'Snapshot' &&
  !known.has(record.eventId.toLowerCase());

/** The event of the expected type; where there are several, the one of the expected source. */
function eventIn({ event }: Scenario, records: readonly EnqueuedRecord[]): string | null {
  const candidates = records.filter(({ record }) => record.eventType === event?.type);
  const best = candidates.find(({ record }) => record.eventSource === event?.source) ?? candidates[0];
  return best?.record.eventId ?? null;
}

const ends: readonly string[] = ['Completed', 'Canceled', 'Ended'];

/** Whether every record that is awaited has arrived, or the event has ended, and no other record is likely to follow. */
function isOver({ timeline }: Scenario, pace: Waits, records: readonly EnqueuedRecord[], requestedAt: Date): boolean {
  const isThere = ({ phase }: ExpectedStep): boolean => records.some(({ record }) => record.phase === phase);
  const hasEnded = records.some(({ record }) => ends.includes(record.phase));
  if (!hasEnded && !timeline.filter(pace.isAwaited).every(isThere)) return false;
  if (timeline.length > 0 && timeline.every(isThere)) return true;
  const mayStart = records.some(({ record }) => record.phase === 'Started' || record.phase === 'Approved');
  const starts = mayStart ? [] : records.map(({ record }) => Date.parse(record.notBefore ?? '') || 0);
  const arrivals = records.map(({ enqueuedAt }) => enqueuedAt.getTime());
  return Date.now() >= Math.max(requestedAt.getTime(), ...starts, ...arrivals) + pace.lingerMs;
}

async function collectRecording(
  { afterwards }: Scenario,
  { target, machine, say }: PlayContext,
  recorder: Machine,
  snapshot: string | null,
): Promise<string | null> {
  if (afterwards === 'deleted' && recorder === machine) return snapshot;
  try {
    if (afterwards === 'stopped') await target.request('start', machine);
    return await target.stopRecording(recorder);
  } catch (error) {
    say(`${recorder.name}: the recording cannot be read: ${(error as Error).message}`);
    return snapshot;
  }
}

/**
 * Records and rows, once hub and table have the same of the event, or after the time for that. A VM that was started again is given time to
 * report the end.
 */
async function collectRecords(
  { afterwards }: Scenario,
  { target, machine, signal }: PlayContext,
  { requestedAt, known, eventId }: { requestedAt: Date; known: ReadonlySet<string>; eventId: string | null },
): Promise<Pick<Played, 'records' | 'rows' | 'others'>> {
  const { pollMs, rowsMs, endMs } = waits[target.pace.like];
  const query = rowsQuery(machine.name, shortlyBefore(requestedAt));
  const begun = Date.now();
  for (;;) {
    const all = await newRecords(target, machine, requestedAt, known);
    const records = all.filter(isOf(eventId));
    const { rows } = await target.query(query);
    const ours = (rows as unknown as readonly TableRow[]).filter(({ EventId }) => sameId(EventId, eventId ?? ''));
    const inHub = new Set(records.map(({ record }) => recordKey(record)));
    const hasEnd =
      afterwards !== 'stopped' || eventId === null || records.some(({ record }) => ends.includes(record.phase));
    const isSame = inHub.symmetricDifference(new Set(ours.map(rowKey))).size === 0;
    const waitedMs = Date.now() - begun;
    if ((isSame && (hasEnd || waitedMs > endMs)) || waitedMs > rowsMs) {
      const others = firstCopies(all.filter((one) => !isOf(eventId)(one))).map(({ record }) => record);
      return { records, rows: ours, others };
    }
    await sleep(pollMs, undefined, { signal });
  }
}
