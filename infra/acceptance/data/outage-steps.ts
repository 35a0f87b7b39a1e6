import { plural } from '../../../src/terminal/styled-text.ts';
import type { Step, StepContext, StepOptions } from '../step.ts';
import type { DestinationFault, Machine } from '../target.ts';
import { deliveredTo, type EmittedRecord, emitTest, oneMachine, type SinkStatus, sinkStatus } from './bridge.ts';
import { describeAnswer, rowCases, sendCases } from './refusal-cases.ts';
import { untilAllowed } from './refusal-steps.ts';
import { nothingLeft, refusals, reportOfAzure } from './step-parts.ts';
import { waitFor } from './wait-for.ts';

/** Role assignments take effect within 30 minutes. https://learn.microsoft.com/azure/role-based-access-control/troubleshooting */
const roleMinutes = 35;
const rights = ['Role Based Access Control Administrator on the resource group of the platform'];

/** Steps in which a destination refuses the bridge itself for a while. */
export const outageSteps = ({ against }: StepOptions): readonly Step[] => [
  {
    ...refusals(against),
    id: 'refuse-hub-role',
    title: 'take the role of the bridges on the hub away, and give it back',
    rights,
    minutes: 40,
    proves: ['hub-role-missing', 'role-takes-effect'],
    run: (context) =>
      refuse(context, {
        fault: 'hub-role-removed',
        sink: 'event-hubs',
        // The service may also leave the link unanswered.
        codes: ['unauthorized', 'amqp-timeout'],
        copies: copiesInHub,
        proves: 'hub-role-missing',
      }),
  },
  {
    ...refusals(against),
    id: 'refuse-rule-role',
    title: 'take the role of the bridges on the data collection rule away, and give it back',
    rights,
    minutes: 60,
    proves: ['role-takes-effect'],
    run: (context) =>
      refuse(context, {
        fault: 'rule-role-removed',
        sink: 'log-analytics',
        codes: ['http-403'],
        copies: copiesInTable,
        proves: null,
      }),
  },
  {
    ...refusals(against),
    id: 'refuse-throttled',
    title: 'exceed the limit of the data collection rule by small rows, and let it recover',
    creates: ['up to 48,000 small test rows in the table of records'],
    cost: { usd: 0.05, basis: '48,000 rows of 100 bytes, ingested at $3 a GB' },
    minutes: 30,
    proves: ['logs-throttled'],
    run: (context) =>
      refuse(context, {
        fault: 'throttled',
        sink: 'log-analytics',
        codes: ['http-429'],
        copies: copiesInTable,
        proves: null,
        during: reportThrottled,
      }),
  },
];

/** As the report names the durations. */
const conditions: Readonly<Record<DestinationFault, string>> = {
  'hub-role-removed': 'role on the hub taken away and given back',
  'rule-role-removed': 'role on the rule taken away and given back',
  throttled: 'rule beyond its limit',
};

interface Refusal {
  readonly fault: DestinationFault;
  /** Name of the sink that is refused. */
  readonly sink: string;
  /** What the bridge must call the failure: the first is what it calls that of the simulator. */
  readonly codes: readonly string[];
  /** How often the destination has each record, by its id. */
  readonly copies: (context: StepContext, records: readonly EmittedRecord[]) => Promise<ReadonlyMap<string, number>>;
  /** The assumption that such a refusal proves; null without one. */
  readonly proves: string | null;
  /** While it is refused. */
  readonly during?: (context: StepContext) => Promise<void>;
}

/** Breaks the destination until the bridge is refused, repairs it, and checks that every record arrives and none becomes a dead letter. */
async function refuse(context: StepContext, refusal: Refusal): Promise<void> {
  const { target, say, differ, save } = context;
  const { fault, sink, codes, during } = refusal;
  const machine = await oneMachine(target);
  const before = await waitFor(context, { what: `The status of ${machine.name}`, minutes: 10 }, () =>
    sinkStatus(target, machine, sink),
  );
  if (fault === 'throttled') await untilAllowed(context);
  const records: EmittedRecord[] = [];
  const brokenAt = Date.now();
  const repair = await target.breakDestination(fault);
  let refused: SinkStatus;
  try {
    refused = await untilRefused(context, { machine, sink, brokenAt, records });
    await during?.(context);
  } finally {
    await repair();
  }
  const error = refused.lastError;
  const file = save(`refuse-${fault}.json`, JSON.stringify(refused, null, 1));
  measureTime(context, `${conditions[fault]}: until the bridge is refused`, brokenAt, machine);
  say(`${machine.name}: ${error?.code}: ${error?.reason}`);
  const code = error?.code ?? 'none';
  if (code !== codes[0])
    differ({
      situation: fault,
      what: `The bridge calls the refusal of Azure ${code}, that of the simulator ${codes[0]}.`,
      file,
    });
  if (refusal.proves !== null && codes.includes(code)) {
    reportOfAzure(context, {
      assumption: refusal.proves,
      verdict: 'proven',
      evidence: `After the role was taken away, the bridge was refused with ${code} within ${plural(minutesSince(brokenAt), 'minute')}.`,
      file,
    });
  }
  const repairedAt = Date.now();
  await untilDelivered(context, machine, sink, records);
  measureTime(context, `${conditions[fault]}: until everything is delivered again`, repairedAt, machine);
  if (fault !== 'throttled') {
    const minutes = minutesSince(repairedAt);
    reportOfAzure(context, {
      assumption: 'role-takes-effect',
      verdict: minutes <= 30 ? 'proven' : 'refuted',
      evidence: `The role on the destination of ${sink} took effect within ${plural(minutes, 'minute')} after it was given back.`,
      file,
    });
  }
  const copies = await refusal.copies(context, records);
  const twice = records.filter(({ recordId }) => (copies.get(recordId) ?? 0) > 1).length;
  // Delivery is at least once, but a refusal is no reason for a copy.
  if (twice > 0)
    differ({ situation: fault, what: `${twice} of ${records.length} records were delivered more than once.`, file });
  const after = await sinkStatus(target, machine, sink);
  nothingLeft(context, `After ${fault}`, [
    ...(codes.includes(code) ? [] : [`The bridge calls the failure ${code}; expected was ${codes.join(' or ')}.`]),
    ...(after.deadLetters === before.deadLetters ? [] : ['A record became a dead letter.']),
    ...records.flatMap(({ recordId }) => (copies.has(recordId) ? [] : [`The record ${recordId} never arrived.`])),
  ]);
}

interface Broken {
  readonly machine: Machine;
  readonly sink: string;
  /** Milliseconds since the epoch. */
  readonly brokenAt: number;
  /** Test records that were sent meanwhile. */
  readonly records: EmittedRecord[];
}

/** Sends test records until one is refused. A role that was taken away is effective after minutes, so the first ones may be delivered. */
async function untilRefused(context: StepContext, { machine, sink, brokenAt, records }: Broken): Promise<SinkStatus> {
  const { target } = context;
  return await waitFor(context, { what: `A refusal of ${sink}`, minutes: roleMinutes }, async () => {
    const last = records.at(-1);
    if (last === undefined || (await deliveredTo(target, last)).includes(sink))
      records.push(await emitTest(target, machine));
    const status = await sinkStatus(target, machine, sink);
    const isNew = Date.parse(status.lastError?.at ?? '') >= brokenAt - clockToleranceMs;
    return status.waiting > 0 && isNew ? status : null;
  });
}

/** The clock of the VM and that of this machine differ by less. */
const clockToleranceMs = 5_000;

async function untilDelivered(
  context: StepContext,
  machine: Machine,
  sink: string,
  records: readonly EmittedRecord[],
): Promise<void> {
  const { target } = context;
  await waitFor(context, { what: `The delivery of what was refused to ${sink}`, minutes: roleMinutes }, async () => {
    // Its own next attempt may be minutes away.
    await target.runBridge(machine, ['outbox', 'retry', '--now', '--sink', sink]);
    for (const record of records) if (!(await deliveredTo(target, record)).includes(sink)) return null;
    return true;
  });
}

const copiesInHub: Refusal['copies'] = async ({ target }, records) => {
  const since = new Date(Math.min(...records.map(({ emittedAt }) => emittedAt.getTime())) - 5 * 60_000);
  const messages = await target.readHub(since);
  return countsOf(messages.map(({ record }) => record.recordId));
};

const copiesInTable: Refusal['copies'] = async (context, records) => {
  const ids = records.map(({ recordId }) => `'${recordId}'`).join(', ');
  return await waitFor(context, { what: 'The arrival of the rows that were refused', minutes: 20 }, async () => {
    const { rows } = await context.target.query(`VmLifecycle_CL | where RecordId in (${ids}) | project RecordId`);
    const counts = countsOf(rows.map(({ RecordId }) => String(RecordId)));
    return records.every(({ recordId }) => counts.has(recordId)) ? counts : null;
  });
};

const countsOf = (ids: readonly string[]): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(ids, (id) => id)].map(([id, { length }]) => [id, length]));

async function reportThrottled(context: StepContext): Promise<void> {
  const { target, run, save, say } = context;
  const plain = rowCases.filter(({ id }) => id === 'plain');
  // At the start of a minute the rule takes some requests again.
  const answer = await waitFor(context, { what: 'A refusal of a single row', minutes: 3 }, async () => {
    const [answered] = await sendCases(plain, await target.destinations(), `acceptance-${run.id}`);
    return answered?.status === 429 ? answered : null;
  });
  say(`a rule beyond its limit answers ${describeAnswer(answer)}`);
  reportOfAzure(context, {
    assumption: 'logs-throttled',
    verdict: answer.retryAfter === null ? 'refuted' : 'proven',
    evidence: `Beyond its limit the rule answers ${describeAnswer(answer)}.`,
    file: save('throttled-answer.json', JSON.stringify(answer, null, 1)),
  });
}

const minutesSince = (time: number): number => Math.ceil((Date.now() - time) / 60_000);

const measureTime = ({ measure }: StepContext, what: string, since: number, { name }: Machine): void =>
  measure(what, (Date.now() - since) / 1000, name);
