import { setTimeout as sleep } from 'node:timers/promises';
import { FleetView, parseEventData } from '../../../src/consumer/index.ts';
import { createRandom } from '../../fleet-model/random.ts';
import { until } from '../../support/until.ts';
import type { FaultTest } from '../fault-test.ts';
import { FleetUnderTest } from '../fleet/fleet-under-test.ts';

const vms = ['web_0', 'web_1', 'web_2', 'web_3'];

/** Each step is stored by both sinks and never acknowledged, once for each VM: it is sent again, and readers have to find the copies. */
export const duplicateBudget: FaultTest = {
  id: 'duplicate-budget',
  title: 'both sinks store a batch and reset the connection instead of an acknowledgement',
  kind: 'processes',
  cases: { quick: 16, full: 1000 },
  load: { seconds: 20, processors: 0.3 },
  async run(context) {
    const random = createRandom(context.seed);
    const fleet = await FleetUnderTest.start(context, { vms });
    const { eventHubs, logAnalytics } = fleet.azure;
    /** Faults that were set, for each sink. */
    let faults = 0;
    let isOver = false;
    try {
      for (const vm of fleet.vms) fleet.startBridge(vm);
      await fleet.firstDocuments();
      const announce = async (): Promise<void> => {
        do await fleet.announce(random);
        while (!isOver);
      };
      const unanswered = () => logAnalytics.requests.filter(({ status, rows }) => status === 0 && rows > 0);
      const isEnough = (): boolean =>
        2 * Math.min(unanswered().length, copiesOnHub(fleet)) >= context.cases && fleet.judge().copies >= context.cases;
      const reset = async (): Promise<void> => {
        let steps = 0;
        while (!isOver) {
          await sleep(20, undefined, { signal: context.signal });
          if (fleet.stepsAnnounced === steps) continue;
          steps = fleet.stepsAnnounced;
          if (isEnough()) break;
          eventHubs.fault('accept-then-drop', vms.length);
          logAnalytics.fault('accept-then-reset', vms.length);
          faults += vms.length;
        }
        isOver = true;
      };
      await Promise.all([reset(), announce()]).finally(() => {
        isOver = true;
      });
      eventHubs.fault(null);
      logAnalytics.fault(null);
      // A sink that was reset again and again pauses for up to five minutes.
      await until(() => fleet.judge().lost === 0, { what: 'all records', timeoutMs: 400_000 }).catch(() => {});
      const freshArrived = await fleet.freshArrives(random, 30);
      const { lost, copies, broken } = fleet.judge();
      const inTable = unanswered().reduce((sum, { rows }) => sum + rows, 0);
      const folded = fold(fleet);
      return {
        lost,
        duplicated: { found: copies, allowed: inTable + faults * largestBatch(fleet) },
        happened: [
          { what: 'resets by the table', count: unanswered().length, least: Math.floor(context.cases / 2) },
          { what: 'copies', count: copies, least: context.cases },
          {
            what: 'copies that the reader on the hub found',
            count: folded.copies,
            least: Math.floor(context.cases / 2),
          },
        ],
        worst: null,
        freshArrived,
        conservation: fleet.conservation,
        broken: [...broken, ...folded.broken],
        details: [
          `${unanswered().length} resets by the table, of ${inTable} rows; at most ${faults} by the hub, of ${largestBatch(fleet)} each`,
          `${copies} copies, ${folded.copies} of them on the hub: its reader folds them to the announced steps`,
        ],
      };
    } finally {
      isOver = true;
      await fleet.close();
    }
  },
};

/** Messages beyond the first of each record. */
function copiesOnHub({ azure }: FleetUnderTest): number {
  const messages = azure.eventHubs.events();
  return messages.length - new Set(messages.map(({ properties }) => properties['cloudEvents:id'])).size;
}

/** What one VM sent of one event and the hub stored in the same millisecond is one batch. */
function largestBatch({ azure }: FleetUnderTest): number {
  const batches = Map.groupBy(azure.eventHubs.events(), ({ enqueuedAt, partitionKey, properties }) =>
    [enqueuedAt.getTime(), partitionKey, properties['cloudEvents:source']].join(' '),
  );
  return Math.max(...[...batches.values()].map(({ length }) => length));
}

/** Reads the hub as an application does, with the reader of this repository: without its copies it has to have exactly what was announced. */
function fold({ azure, announced, stepsAnnounced }: FleetUnderTest) {
  const view = new FleetView();
  const seen = new Set<string>();
  const broken: string[] = [];
  const snapshots = new Map<string, number>();
  let copies = 0;
  for (const message of azure.eventHubs.events()) {
    const { body, properties, contentType } = message;
    const parsed = parseEventData({ body, properties, ...(contentType !== null && { contentType }) });
    if (parsed.kind !== 'record') {
      broken.push(`the reader takes a message as ${parsed.kind}`);
      continue;
    }
    const { recordId, phase, vmName } = parsed.record;
    // One that is not about an event, minutes after the start of a stream.
    if (phase === 'Snapshot' && !seen.has(recordId)) snapshots.set(vmName, (snapshots.get(vmName) ?? 0) + 1);
    const changed = view.add(parsed.record).length;
    if (seen.has(recordId)) copies += 1;
    if (seen.has(recordId) && changed > 0) broken.push(`the copy of ${recordId} changed what the reader knows`);
    seen.add(recordId);
  }
  for (const { eventId, steps } of announced) {
    const event = view.event(eventId);
    const views = event?.views ?? [];
    const isExact = views.every(({ last, missing }) => last.sequence === steps.length && missing.length === 0);
    if (event?.isOpen !== false || views.length !== vms.length || !isExact)
      broken.push(`the reader does not have the ${steps.length} steps of ${eventId} from each VM`);
  }
  for (const { vm, lastPosition, missing } of view.streams()) {
    const wanted = stepsAnnounced + (snapshots.get(vm.name) ?? 0);
    if (lastPosition !== wanted || missing.length > 0)
      broken.push(
        `the reader has records up to ${lastPosition} of ${vm.name}, without ${JSON.stringify(missing)}, and not 1 to ${wanted}`,
      );
  }
  return { copies, broken };
}
