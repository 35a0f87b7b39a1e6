import type { Step, StepContext, StepOptions } from '../step.ts';
import type { EnqueuedRecord } from '../target.ts';
import { deliveredRecords, type EmittedRecord, emitTest, ingestionMinutes, longAgo, oneMachine } from './bridge.ts';
import { hubProblems, otherStreams, withoutCopies } from './check-hub.ts';
import { columnProblems, rowProblems } from './check-tables.ts';
import { checkHeartbeats } from './heartbeats.ts';
import { nothingLeft, readsOnly, reportOfAzure } from './step-parts.ts';
import { waitFor } from './wait-for.ts';
import { ownTables } from './workspace-rows.ts';

/** Rows are read as they are, with the time at which they could be queried. */
const recordRows = 'VmLifecycle_CL | extend IngestedAt = ingestion_time()';
/** Rows of requests that were refused, or should be, have a `StreamId` of this form. */
const ofBridges = "where StreamId !startswith 'acceptance-' and RecordId != 'acceptance-load'";

export const readSteps = ({ against }: StepOptions): readonly Step[] => [
  {
    ...readsOnly(against),
    id: 'read-test-record',
    title: 'a test record from each VM, to the hub and to the table',
    creates: ['a test record on each VM'],
    minutes: 20,
    proves: ['logs-accepted'],
    run: readTestRecords,
  },
  {
    ...readsOnly(against),
    id: 'read-hub',
    title: 'every record of the event hub: completeness, order, properties, partition keys',
    minutes: 3,
    proves: ['hub-order'],
    run: checkHub,
  },
  {
    ...readsOnly(against),
    id: 'read-tables',
    title: 'every row of the tables: equal to the records of the hub, in the columns that were deployed',
    minutes: 20,
    proves: ['logs-first-rows', 'logs-no-resource-id', 'logs-rule-endpoint'],
    run: checkTables,
  },
  {
    ...readsOnly(against),
    id: 'read-latency',
    title: 'how long rows take until they can be queried',
    needs: ['read-tables'],
    minutes: 1,
    proves: ['logs-latency'],
    run: measureIngestion,
  },
  {
    ...readsOnly(against),
    id: 'read-heartbeats',
    title: 'heartbeats of each VM',
    minutes: 5,
    proves: ['host-stops-orderly'],
    run: checkHeartbeats,
  },
  ...(against === 'azure'
    ? [
        {
          ...readsOnly(against),
          id: 'read-billed-size',
          title: 'the size by which rows are billed',
          needs: ['read-tables'],
          minutes: 1,
          proves: ['logs-billed-size'],
          run: checkBilledSize,
        },
      ]
    : []),
];

async function readTestRecords(context: StepContext): Promise<void> {
  const { target, say, measure } = context;
  await oneMachine(target);
  const emitted: EmittedRecord[] = [];
  for (const machine of await target.machines()) {
    try {
      emitted.push(await emitTest(target, machine));
    } catch (error) {
      // A VM that the scenarios have deleted or stopped.
      say(`no test record from ${machine.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const [first] = emitted;
  if (first === undefined) throw new Error('No VM has sent a test record.');
  const isOf = ({ record }: EnqueuedRecord, { streamId, recordId }: EmittedRecord): boolean =>
    record.streamId === streamId && record.recordId === recordId;
  const since = new Date(first.emittedAt.getTime() - 5 * 60_000);
  const messages = await waitFor(
    context,
    { what: 'The delivery of the test records to the hub', minutes: 10 },
    async () => {
      const read = await target.readHub(since);
      return emitted.every((one) => read.some((message) => isOf(message, one))) ? read : null;
    },
  );
  for (const one of emitted) {
    const message = messages.find((each) => isOf(each, one));
    const seconds = ((message?.enqueuedAt.getTime() ?? Number.NaN) - one.emittedAt.getTime()) / 1000;
    measure('delivery of a test record to the event hub', seconds, one.machine.name);
    if (message?.record.isTest !== true)
      throw new Error(`The test record of ${one.machine.name} is not marked as a test.`);
  }
  const ids = emitted.map(({ recordId }) => `'${recordId}'`).join(', ');
  const rows = await waitFor(
    context,
    { what: 'The arrival of the test records in the table', minutes: ingestionMinutes },
    async () => {
      const result = await target.query(
        `${recordRows} | where RecordId in (${ids}) | project RecordId, IsTest, IngestedAt`,
      );
      return emitted.every(({ recordId }) => result.rows.some((row) => row.RecordId === recordId)) ? result.rows : null;
    },
  );
  for (const one of emitted) {
    const row = rows.find(({ RecordId }) => RecordId === one.recordId);
    measure(
      'ingestion of a test record into the table',
      (Date.parse(String(row?.IngestedAt)) - one.emittedAt.getTime()) / 1000,
      one.machine.name,
    );
  }
  const left = await target.query(`VmLifecycleRecords(1d) | where RecordId in (${ids})`);
  if (left.rows.length > 0) throw new Error('VmLifecycleRecords does not leave test records out.');
  reportOfAzure(context, {
    assumption: 'logs-accepted',
    verdict: 'proven',
    evidence: `${emitted.length} test records that the rule accepted were queried later.`,
  });
}

async function checkHub(context: StepContext): Promise<void> {
  const { say, save } = context;
  const { streams, messages } = await deliveredRecords(context);
  const records = withoutCopies(messages);
  const file = save('hub.json', JSON.stringify(messages, null, 1));
  say(
    `${messages.length} messages in the hub, of ${records.length} records (the others are copies) and ${streams.length} VMs that can be reached`,
  );
  measureEach(
    context,
    'delivery to the event hub, all records',
    records.map(({ record, enqueuedAt }) => (enqueuedAt.getTime() - Date.parse(record.observedAt)) / 1000),
  );
  const problems = hubProblems(messages, [...streams, ...otherStreams(messages, streams)]);
  const order = problems.filter((problem) => /partitions|follows/.test(problem));
  const events = new Set(records.map(({ record }) => record.eventId.toLowerCase())).size;
  reportOfAzure(context, {
    assumption: 'hub-order',
    verdict: order.length === 0 ? 'proven' : 'refuted',
    evidence: order[0] ?? `${records.length} records of ${events} events, each event in one partition and in order.`,
    file,
  });
  nothingLeft(context, 'The messages in the hub', problems);
}

async function checkTables(context: StepContext): Promise<void> {
  const { target, say, save } = context;
  await deliveredRecords(context);
  let messages: readonly EnqueuedRecord[] = [];
  let problems: readonly string[] = [];
  const query = `${recordRows} | ${ofBridges}`;
  const result = await waitFor(
    context,
    { what: 'The arrival of all records in the table', minutes: ingestionMinutes },
    async () => {
      const read = await target.query(query);
      // After the rows: what arrives meanwhile is then missing in the table, and waited for.
      messages = await target.readHub(longAgo);
      problems = rowProblems(messages, read.rows);
      return problems.some((problem) => problem.endsWith('is in the hub and not in the table.')) ? null : read;
    },
  ).catch((error: unknown) => {
    throw problems.length > 0 ? new Error(problems[0], { cause: error }) : error;
  });
  const file = save('rows.json', JSON.stringify(result.rows, null, 1));
  say(`${result.rows.length} rows of ${withoutCopies(messages).length} records`);
  const columns = await columnsOf(context);
  reportOfAzure(context, {
    assumption: 'logs-first-rows',
    verdict: 'proven',
    evidence: 'Every record of the hub has a row in tables that this run has created.',
    file,
  });
  reportOfAzure(context, {
    assumption: 'logs-rule-endpoint',
    verdict: 'proven',
    evidence: `${result.rows.length} rows were sent to the endpoint of the rule itself.`,
    file,
  });
  const withResource = result.rows.filter(({ _ResourceId: id }) => id !== undefined && id !== null && id !== '');
  reportOfAzure(context, {
    assumption: 'logs-no-resource-id',
    verdict: withResource.length === 0 ? 'proven' : 'refuted',
    evidence: `_ResourceId is set in ${withResource.length} of ${result.rows.length} rows.`,
    file,
  });
  nothingLeft(context, 'The tables', [...columns, ...problems]);
}

async function columnsOf({ target }: StepContext): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [table, expected] of Object.entries(ownTables)) {
    const { columns } = await target.query(`${table} | take 0`);
    problems.push(...columnProblems(table, columns, expected));
  }
  return problems;
}

async function measureIngestion(context: StepContext): Promise<void> {
  const { rows } = await context.target.query(`${recordRows} | ${ofBridges} | project TimeGenerated, IngestedAt`);
  const seconds = rows.map(
    ({ TimeGenerated, IngestedAt }) => (Date.parse(String(IngestedAt)) - Date.parse(String(TimeGenerated))) / 1000,
  );
  const sorted = measureEach(context, 'ingestion into the table, all records', seconds);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const max = sorted.at(-1) ?? 0;
  // The first rows of new tables take longer, and so do those of a VM that was off.
  reportOfAzure(context, {
    assumption: 'logs-latency',
    verdict: median <= 300 ? 'proven' : 'refuted',
    evidence: `From TimeGenerated to ingestion_time(): half of ${seconds.length} rows within ${Math.round(median)} s, the slowest after ${Math.round(max)} s.`,
  });
}

/** Each is a duration of its own, of which the report shows the distribution. */
function measureEach({ measure }: StepContext, what: string, seconds: readonly number[]): readonly number[] {
  if (seconds.length === 0) throw new Error(`No record shows how long it takes: ${what}.`);
  for (const each of seconds) measure(what, each, '');
  return seconds.toSorted((one, other) => one - other);
}

async function checkBilledSize(context: StepContext): Promise<void> {
  const { target, save } = context;
  const columns = (ownTables.VmLifecycle_CL ?? []).map(({ name }) => name);
  const { rows } = await target.query(`VmLifecycle_CL | ${ofBridges} | extend Billed = _BilledSize | take 100`);
  const sizes = rows.map((row) => {
    const values = Object.fromEntries(
      columns.flatMap((name) => (row[name] === null || row[name] === '' ? [] : [[name, row[name]]])),
    );
    const bare = Object.values(values).reduce<number>((sum, value) => sum + bytesOf(value), 0);
    return { billed: Number(row.Billed), values: bare, withNames: Buffer.byteLength(JSON.stringify(values)) };
  });
  const sum = (of: 'billed' | 'values' | 'withNames'): number => sizes.reduce((total, size) => total + size[of], 0);
  const [billed, values, withNames] = [sum('billed'), sum('values'), sum('withNames')];
  if (!(billed > 0)) throw new Error('No row has a size in _BilledSize.');
  reportOfAzure(context, {
    assumption: 'logs-billed-size',
    verdict: Math.abs(billed - values) < Math.abs(billed - withNames) ? 'proven' : 'refuted',
    evidence: `${rows.length} rows are billed as ${billed} bytes; their values have ${values}, with the names of the columns ${withNames}.`,
    file: save('billed-sizes.json', JSON.stringify(sizes, null, 1)),
  });
}

const bytesOf = (value: unknown): number =>
  Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));
