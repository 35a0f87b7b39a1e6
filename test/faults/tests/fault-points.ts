import type { FaultPoint } from '../../../src/fault-point.ts';
import { createRandom, type Random } from '../../fleet-model/random.ts';
import { hubRecords } from '../../support/delivered.ts';
import type { FaultContext, FaultTest, Outcome } from '../fault-test.ts';
import { FleetUnderTest } from '../fleet/fleet-under-test.ts';
import { type Crash, copiesByPoint } from '../points/copies.ts';
import { crashAt } from '../points/crash-at.ts';
import { pointCases } from '../points/point-cases.ts';

const points = Object.keys(pointCases) as readonly FaultPoint[];
/** Those of upkeep come a minute after a start. */
const quickPoints = points.filter((point) => pointCases[point].group !== 'upkeep');

/** Points that are passed one after the other, on a VM with a simulated Azure of its own. */
const lanes: readonly (readonly FaultPoint[])[] = Object.entries({ records: 4, files: 2, upkeep: 2 }).flatMap(
  ([group, count]) => {
    const own = points.filter((point) => pointCases[point].group === group);
    return Array.from({ length: count }, (_, lane) => own.filter((_point, index) => index % count === lane));
  },
);

interface LaneOutcome extends Omit<Outcome, 'happened' | 'worst' | 'details'> {
  readonly crashes: readonly Crash[];
  readonly secondCrashes: number;
  readonly copies: ReadonlyMap<string, number>;
}

/** Ends bridges at each fault point, and each next one while it recovers from that, while events come and go. */
export const faultPoints: FaultTest = {
  id: 'fault-points',
  title: 'SIGKILL at each fault point, and again while the next process recovers',
  kind: 'processes',
  cases: { quick: quickPoints.length, full: 10 * points.length },
  load: { seconds: 45, processors: 0.5 },
  async run(context) {
    const rounds = Math.ceil(context.cases / points.length);
    const chosen = rounds > 1 ? points : quickPoints;
    const outcomes = await Promise.all(
      lanes
        .map((lane) => lane.filter((point) => chosen.includes(point)))
        .filter((lane) => lane.length > 0)
        .map((lane, index) => runLane(lane, index, rounds, context)),
    );
    const crashes = outcomes.flatMap((outcome) => outcome.crashes);
    const sum = (numberOf: (outcome: LaneOutcome) => number): number =>
      outcomes.reduce((total, outcome) => total + numberOf(outcome), 0);
    const crashesAt = (point: string): number => crashes.filter((crash) => crash.point === point).length;
    const copiesOf = (point: string): number => sum(({ copies }) => copies.get(point) ?? 0);
    return {
      lost: sum(({ lost }) => lost),
      duplicated: {
        found: sum(({ duplicated }) => duplicated.found),
        allowed: sum(({ duplicated }) => duplicated.allowed),
      },
      happened: [
        ...chosen.map((point) => ({ what: `crashes at ${point}`, count: crashesAt(point), least: rounds })),
        { what: 'crashes during a recovery', count: sum((one) => one.secondCrashes), least: context.cases },
        { what: 'copies', count: sum(({ duplicated }) => duplicated.found), least: 1 },
      ],
      worst: null,
      freshArrived: outcomes.every(({ freshArrived }) => freshArrived),
      conservation: {
        samples: sum(({ conservation }) => conservation.samples),
        violations: sum(({ conservation }) => conservation.violations),
      },
      broken: outcomes.flatMap(({ broken }) => broken),
      details: [...chosen, recovering, 'none'].map(
        (point) => `${point}: ${crashesAt(point)} crashes, ${copiesOf(point)} copies`,
      ),
    };
  },
};

const recovering = 'during a recovery';

async function runLane(
  lane: readonly FaultPoint[],
  index: number,
  rounds: number,
  context: FaultContext,
): Promise<LaneOutcome> {
  const random = createRandom(context.seed + index);
  const fleet = await FleetUnderTest.start(context, { vms: [`web_${index}`] });
  const crashes: Crash[] = [];
  let isOver = false;
  try {
    const [vm] = fleet.vms;
    if (!vm) throw new Error('there is no VM');
    const announce = async (): Promise<void> => {
      do await fleet.announce(random);
      while (!isOver);
    };
    const crash = async (point: FaultPoint, passing: number, name: string): Promise<boolean> => {
      const isReached = await crashAt(fleet, vm, point, passing);
      if (isReached) crashes.push({ point: name, at: Date.now() });
      context.signal.throwIfAborted();
      return isReached;
    };
    const crashAll = async (): Promise<void> => {
      await fleet.kill(vm);
      for (let round = 1; round <= rounds; round += 1) {
        for (const point of shuffled(lane, random)) {
          // Another part has failed.
          if (isOver) return;
          const passing = round === 1 ? 1 : random.int(1, pointCases[point].mostPassings ?? 1);
          if (!(await crash(point, passing, point))) context.say(`${point}:${passing} was not reached`);
          await crash('before-checkpoint', 1, recovering);
        }
      }
      isOver = true;
      fleet.startBridge(vm);
    };
    fleet.startBridge(vm);
    await fleet.firstDocuments();
    await Promise.all([crashAll(), announce()]);
    const freshArrived = await fleet.freshArrives(random, 60);
    const { lost, copies, broken } = fleet.judge();
    const secondCrashes = crashes.filter(({ point }) => point === recovering).length;
    return {
      lost,
      duplicated: { found: copies, allowed: 2 * mostInFlight * crashes.filter(isWhileSending).length },
      freshArrived,
      conservation: fleet.conservation,
      broken,
      crashes,
      secondCrashes,
      copies: copiesOf(fleet, crashes),
    };
  } finally {
    isOver = true;
    await fleet.close();
  }
}

/** Before the outbox is open and after the relays have ended nothing is in flight. */
const isWhileSending = ({ point }: Crash): boolean =>
  point !== recovering && pointCases[point as FaultPoint].group === 'records';

/** Records of one event that a sink may have without its acknowledgement being stored. */
const mostInFlight = 4;

function copiesOf({ azure }: FleetUnderTest, crashes: readonly Crash[]): ReadonlyMap<string, number> {
  const records = hubRecords(azure);
  const onHub = azure.eventHubs.events().map(({ enqueuedAt }, index) => {
    return { recordId: records[index]?.recordId ?? '', at: enqueuedAt.getTime() };
  });
  const times = azure.logAnalytics.arrivals();
  const inTable = azure.logAnalytics.rows().map(({ RecordId }, index) => {
    return { recordId: String(RecordId), at: times[index]?.getTime() ?? 0 };
  });
  const all = [onHub, inTable].flatMap((arrivals) => [...copiesByPoint(arrivals, crashes)]);
  return new Map([...Map.groupBy(all, ([point]) => point)].map(([point, parts]) => [point, total(parts)]));
}

const total = (parts: readonly (readonly [string, number])[]): number => parts.reduce((sum, [, n]) => sum + n, 0);

const shuffled = <T>(list: readonly T[], random: Random): T[] =>
  list
    .map((value) => ({ value, key: random.next() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
