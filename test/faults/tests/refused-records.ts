import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { WireEvent } from '../../../src/azure-simulator/index.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { createRandom, type Random } from '../../fleet-model/random.ts';
import { until } from '../../support/until.ts';
import type { FaultContext, FaultTest } from '../fault-test.ts';
import type { Announced } from '../fleet/announced.ts';
import { FleetUnderTest, type Vm } from '../fleet/fleet-under-test.ts';

const run = promisify(execFile);

/** All else is at the sinks, and the refused record is a dead letter, within this time; so is what was retried. */
const mostSeconds = 15;
const events = 64;
/** Halving finds one of these records in log2 steps of two requests each; it is a dead letter when it is refused once more. */
const mostExtraRequests = (records: number): number => 2 * Math.ceil(Math.log2(records)) + 1;

/** What a document may say that is larger or stranger than what Azure says today. The bridge keeps each record below 64 KB. */
const oddities: readonly ((event: WireEvent) => void)[] = [
  (event) => {
    event.Description = 'd'.repeat(600_000);
  },
  (event) => {
    event.Description = 'é'.repeat(40_000);
  },
  (event) => {
    event.Description = 'half a character: \ud83d';
  },
  (event) => {
    event.EventType = 'Hibernate';
    event.Severity = { level: 3, of: [null, true, 1e300] };
  },
  (event) => {
    event.DurationInSeconds = Number.MAX_SAFE_INTEGER;
    event.Description = '\u0000\u2028';
  },
];

interface Round {
  readonly fleet: FleetUnderTest;
  readonly vm: Vm;
  readonly context: FaultContext;
}

/** Announces this many freezes in one document, each of which may be changed. */
function announce(
  { azure, announced }: FleetUnderTest,
  count: number,
  change: (event: WireEvent, index: number) => void,
): Announced[] {
  const { imds } = azure;
  const notBefore = new Date(Date.now() + 900_000);
  const together: Announced[] = [];
  imds.change((document) => {
    for (let index = 0; index < count; index += 1) {
      const eventId = imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore });
      const event = document.Events.find(({ EventId }) => EventId === eventId);
      if (!event) throw new Error('the simulator does not list the event');
      change(event, index);
      together.push({ eventId, eventType: event.EventType, steps: ['scheduled', 'end'] });
    }
  });
  announced.push(...together);
  return together;
}

const deadLetters = ({ vm }: Round): number =>
  (readOutbox(vm.stateDirectory)?.sinks ?? []).reduce((sum, { counters }) => sum + counters.dead, 0);

/** One record is refused by each sink: the others arrive, and so does the refused one, when it is retried after the cause is gone. */
async function refuseOne(round: Round, random: Random) {
  const { fleet, vm, context } = round;
  const { eventHubs, logAnalytics } = fleet.azure;
  const refused = { table: random.int(0, events - 1), hub: random.int(0, events - 1) };
  const broken: string[] = [];
  const requests = logAnalytics.requests.length;
  const began = performance.now();
  const together = announce(fleet, events, ({ EventId }, index) => {
    if (index === refused.table) logAnalytics.fault({ refuseRows: (row) => row.EventId === EventId });
    if (index === refused.hub)
      eventHubs.fault({ reject: 'amqp:invalid-field', when: (body) => body.includes(EventId) });
  });
  // The ends are not announced yet; of the first records each sink lacks one.
  const missing = 2 * together.length + 2;
  await until(() => fleet.judge(together).lost === missing, { timeoutMs: 60_000, everyMs: 100 }).catch(() => {
    broken.push(`${fleet.judge(together).lost - missing} more records missing than the two that were refused`);
  });
  // A refusal whose answer came last is decided when another record gets through.
  const later = announce(fleet, 1, () => undefined);
  await until(() => deadLetters(round) === 2, { timeoutMs: 60_000, everyMs: 100 }).catch(() => {
    broken.push(`${deadLetters(round)} dead letters instead of 2`);
  });
  const seconds = (performance.now() - began) / 1000;
  const since = logAnalytics.requests.slice(requests);
  // The batch may also hold records of events before.
  const batch = Math.max(...since.filter(({ status }) => status === 400).map(({ rows }) => rows));
  const extra = since.length - 2;
  if (extra > mostExtraRequests(batch)) broken.push(`${extra} extra requests to the table for a batch of ${batch}`);
  logAnalytics.fault(null);
  eventHubs.fault(null);
  const retried = performance.now();
  await run(process.execPath, [context.program, 'outbox', 'retry', '--all', '--state-directory', vm.stateDirectory]);
  await until(() => fleet.judge(together).lost === missing - 2, { timeoutMs: 60_000, everyMs: 100 }).catch(() => {
    broken.push('a record that was retried did not arrive');
  });
  const retrySeconds = (performance.now() - retried) / 1000;
  if (deadLetters(round) > 0) broken.push('a dead letter is left after it was retried');
  for (const { eventId } of [...together, ...later]) fleet.azure.imds.remove(eventId);
  await fleet.observed();
  return { broken, extra, seconds: Math.max(seconds, retrySeconds) };
}

/** Events that are too large or strange: every record of them arrives, shortened if need be. */
async function sendOddities({ fleet }: Round): Promise<void> {
  const together = announce(fleet, oddities.length, (event, index) => oddities[index]?.(event));
  await fleet.observed();
  for (const { eventId } of together) fleet.azure.imds.remove(eventId);
  await fleet.observed();
}

/** A record that its destination refuses becomes one dead letter and delays no other. */
export const refusedRecords: FaultTest = {
  id: 'refused-records',
  title: `one of ${events} records is refused, and records are too large or strange`,
  kind: 'processes',
  cases: { quick: 2, full: 40 },
  load: { seconds: 30, processors: 0.1 },
  async run(context) {
    const random = createRandom(context.seed);
    const fleet = await FleetUnderTest.start(context, {
      vms: ['web_0'],
      configuration: { heartbeat: { everyMinutes: 0 } },
    });
    const { errors } = fleet.azure;
    try {
      const [vm] = fleet.vms;
      if (!vm) throw new Error('there is no VM');
      const round: Round = { fleet, vm, context };
      fleet.startBridge(vm);
      await until(() => (fleet.azure.imds.polls.web_0 ?? 0) > 1, { what: 'first polls' });
      await sendOddities(round);
      const rounds: Awaited<ReturnType<typeof refuseOne>>[] = [];
      for (let n = 0; n < context.cases; n += 1) {
        context.signal.throwIfAborted();
        rounds.push(await refuseOne(round, random));
      }
      const freshArrived = await fleet.freshArrives(random, 30);
      const { lost, copies, broken } = fleet.judge();
      return {
        lost,
        duplicated: { found: copies, allowed: 0 },
        happened: [
          {
            what: 'extra requests to the table',
            count: sum(rounds.map(({ extra }) => extra)),
            least: 2 * context.cases,
          },
          { what: 'strange events', count: oddities.length, least: 1 },
        ],
        worst: { what: 'isolated or retried', seconds: Math.max(...rounds.map(({ seconds }) => seconds)), mostSeconds },
        freshArrived,
        conservation: fleet.conservation,
        broken: [
          ...rounds.flatMap((one) => one.broken),
          ...broken.slice(0, 3),
          ...errors.map(({ message }) => message),
        ],
      };
    } finally {
      await fleet.close();
    }
  },
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
