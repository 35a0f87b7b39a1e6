import { streams } from '../../../src/azure-simulator/cli/streams.ts';
import type { Step, StepContext, StepOptions } from '../step.ts';
import type { Destinations, QueryResult } from '../target.ts';
import {
  allowedCases,
  answerDifferences,
  audienceCases,
  describeAnswer,
  oversizedCases,
  type RefusalAnswer,
  type RefusalCase,
  rowCases,
  sendCases,
  streamCases,
  verdictBy,
  wrongMeanings,
} from './refusal-cases.ts';
import { createSimulatorData, simulatorDestinations } from './simulator-data.ts';
import { nothingLeft, refusals, reportOfAzure } from './step-parts.ts';
import { waitFor } from './wait-for.ts';

/** Steps that send requests to the destinations themselves, and the same ones to a simulator. */
export const requestSteps = ({ against }: StepOptions): readonly Step[] => [
  {
    ...refusals(against),
    id: 'refuse-row',
    title: 'rows with an unknown column, a wrong type, a long text or an old time, and bodies that are not rows',
    creates: ['some test rows in the table of records'],
    minutes: 20,
    proves: ['logs-unknown-column', 'logs-types', 'logs-time-replaced', 'logs-errors'],
    run: refuseRow,
  },
  {
    ...refusals(against),
    id: 'refuse-stream',
    title: 'a stream and a data collection rule that do not exist, and an empty list',
    minutes: 1,
    proves: ['logs-stream-missing', 'logs-empty-list'],
    run: refuseStream,
  },
  {
    ...refusals(against),
    id: 'refuse-audience',
    title: 'no token, and tokens for another service',
    minutes: 1,
    proves: ['logs-audience'],
    run: refuseAudience,
  },
  {
    ...refusals(against),
    id: 'refuse-oversized',
    title: 'a call and a message that are too large',
    minutes: 1,
    proves: ['logs-request-size'],
    run: refuseOversized,
  },
];

/** The answers of both places, by id of the case. */
interface Asked {
  answers: readonly RefusalAnswer[];
  of(id: string): RefusalAnswer;
  readonly mark: string;
  /** Of the simulator after the requests; only what `query` was given. */
  readonly simulatedRows: QueryResult['rows'];
  readonly file: string;
}

/**
 * Sends the requests to the target and to a simulator of its own, and reports what differs and what `judge` finds. Then it fails if the bridge
 * would draw a wrong conclusion from an answer.
 */
async function ask(
  context: StepContext,
  {
    name,
    cases,
    query = '',
  }: { readonly name: string; readonly cases: readonly RefusalCase[]; readonly query?: string },
  judge: (asked: Asked) => Promise<void> | void,
): Promise<void> {
  const { target, run, say, save, differ } = context;
  const mark = `acceptance-${run.id}`;
  await untilAllowed(context);
  const destinations = await target.destinations();
  const answers = await sendCases(cases, destinations, mark);
  const simulated = await askSimulator(cases, destinations, mark, query);
  const file = save(`${name}.json`, JSON.stringify({ answers, simulated: simulated.answers }, null, 1));
  for (const answer of answers) say(`${answer.what}: ${describeAnswer(answer)}`);
  for (const what of answerDifferences(answers, simulated.answers)) differ({ situation: name, what, file });
  await judge({
    answers,
    mark,
    file,
    simulatedRows: simulated.rows,
    of(id) {
      const found = answers.find((answer) => answer.id === id);
      if (found === undefined) throw new Error(`There is no answer to ${id}.`);
      return found;
    },
  });
  nothingLeft(context, `After ${name}`, wrongMeanings(cases, answers));
}

/** Until the roles that `data-rights` has given are effective: before that, everything is refused for the same reason. */
export async function untilAllowed(context: StepContext): Promise<void> {
  const destinations = await context.target.destinations();
  await waitFor(context, { what: 'The right to send to the hub and to the rule', minutes: 35 }, async () => {
    const answers = await sendCases(allowedCases, destinations, `acceptance-${context.run.id}`);
    return answers.every(({ status }) => status >= 200 && status < 300) ? true : null;
  });
}

async function askSimulator(
  cases: readonly RefusalCase[],
  { logs, hub }: Destinations,
  mark: string,
  query: string,
): Promise<{ readonly answers: readonly RefusalAnswer[]; readonly rows: QueryResult['rows'] }> {
  const { startAzureSimulator } = await import('../../../src/azure-simulator/index.ts');
  const azure = await startAzureSimulator({ ruleId: logs.ruleId, eventHubName: hub.eventHubName, streams });
  try {
    const answers = await sendCases(cases, simulatorDestinations(azure), mark);
    const data = createSimulatorData(async () => azure);
    return { answers, rows: query === '' ? [] : (await data.query(query)).rows };
  } finally {
    await azure.close();
  }
}

const rowsOf = (mark: string): string =>
  `VmLifecycle_CL | where StreamId == '${mark}' | project Id = RecordId, Sequence, Length = strlen(Description), IsOld = TimeGenerated < ago(1d)`;

async function refuseRow(context: StepContext): Promise<void> {
  const query = rowsOf(`acceptance-${context.run.id}`);
  await ask(context, { name: 'refuse-row', cases: rowCases, query }, (asked) => judgeRows(context, query, asked));
}

async function judgeRows(context: StepContext, query: string, { of, file, simulatedRows }: Asked): Promise<void> {
  const { target, say, save, differ } = context;
  const expected = ['plain', 'unknown-column', 'long-field', 'old-time'].filter((id) => of(id).status === 204);
  const rows = await waitFor(context, { what: 'The arrival of the accepted rows', minutes: 20 }, async () => {
    const result = await target.query(query);
    return expected.every((id) => result.rows.some((row) => row.Id === id)) ? result.rows : null;
  });
  const rowsFile = save('refuse-row-rows.json', JSON.stringify({ rows, simulatedRows }, null, 1));
  for (const what of rowDifferences(rows, simulatedRows)) differ({ situation: 'refuse-row', what, file: rowsFile });
  const column = of('unknown-column');
  reportOfAzure(context, {
    assumption: 'logs-unknown-column',
    verdict: verdictBy([column], column.status === 204),
    evidence: `A row with an unknown column was answered with ${describeAnswer(column)}${column.status === 204 ? ' and is in the table' : ''}.`,
    file,
  });
  const type = of('wrong-type');
  const typed = rows.find(({ Id }) => Id === 'wrong-type');
  reportOfAzure(context, {
    assumption: 'logs-types',
    verdict: verdictBy([type], type.status === 204),
    evidence: `A text in a column of numbers was answered with ${describeAnswer(type)}; ${typed === undefined ? 'its row is not in the table' : `its row holds ${JSON.stringify(typed.Sequence)}`}.`,
    file: rowsFile,
  });
  const old = rows.find(({ Id }) => Id === 'old-time');
  reportOfAzure(context, {
    assumption: 'logs-time-replaced',
    // A row that was refused or has not arrived shows nothing of its time.
    verdict: old === undefined ? null : verdictBy([of('old-time')], old.IsOld === false),
    evidence:
      old === undefined
        ? `A row of four days ago was answered with ${describeAnswer(of('old-time'))}, and is not in the table.`
        : `TimeGenerated of a row of four days ago was ${old.IsOld === false ? 'replaced' : 'kept'}.`,
    file: rowsFile,
  });
  const errors = await target.query('DCRLogErrors | where TimeGenerated > ago(1h) | take 20');
  say(`DCRLogErrors has ${errors.rows.length} rows`);
  if (errors.rows.length === 0) return;
  const named = errors.rows.some(({ InputStreamId }) => String(InputStreamId).includes('VmLifecycle'));
  reportOfAzure(context, {
    assumption: 'logs-errors',
    verdict: named ? 'proven' : 'refuted',
    evidence: `DCRLogErrors has ${errors.rows.length} rows, ${named ? 'with' : 'without'} the stream as InputStreamId.`,
    file: save('dcr-log-errors.json', JSON.stringify(errors.rows, null, 1)),
  });
}

/** What the table made of accepted rows in both places. Which rows were accepted is compared by the answers. */
export const rowDifferences = (rows: QueryResult['rows'], simulated: QueryResult['rows']): readonly string[] =>
  simulated.flatMap((other) => {
    const row = rows.find(({ Id }) => Id === other.Id);
    if (row === undefined) return [`The row ${other.Id} is in the table of the simulator and not in that of Azure.`];
    return Object.keys(other).flatMap((column) =>
      row[column] === other[column]
        ? []
        : [
            `${column} of the row ${other.Id} is ${JSON.stringify(row[column])} in Azure, ${JSON.stringify(other[column])} in the simulator.`,
          ],
    );
  });

async function refuseStream(context: StepContext): Promise<void> {
  await ask(context, { name: 'refuse-stream', cases: streamCases }, ({ of, file }) => {
    const [empty, stream, rule] = [of('empty-list'), of('wrong-stream'), of('wrong-rule')];
    const isNamed = stream.status === 400 && /InvalidStream/i.test(`${stream.code} ${stream.message}`);
    reportOfAzure(context, {
      assumption: 'logs-stream-missing',
      verdict: verdictBy([stream, rule], isNamed && rule.status === 404),
      evidence: `An unknown stream was answered with ${describeAnswer(stream)}, an unknown rule with ${describeAnswer(rule)}.`,
      file,
    });
    reportOfAzure(context, {
      assumption: 'logs-empty-list',
      verdict: verdictBy([empty, stream], empty.status === 204 && stream.status >= 400),
      evidence: `An empty list was answered with ${describeAnswer(empty)}, for an unknown stream with ${describeAnswer(stream)}.`,
      file,
    });
  });
}

async function refuseAudience(context: StepContext): Promise<void> {
  await ask(context, { name: 'refuse-audience', cases: audienceCases }, ({ of, file }) => {
    const other = of('wrong-audience');
    reportOfAzure(context, {
      assumption: 'logs-audience',
      verdict: verdictBy([other], other.status === 401, { roles: false }),
      evidence: `A token for Event Hubs was answered with ${describeAnswer(other)}.`,
      file,
    });
  });
}

async function refuseOversized(context: StepContext): Promise<void> {
  await ask(context, { name: 'refuse-oversized', cases: oversizedCases }, ({ of, file }) => {
    const [call, unpacked] = [of('oversized-call'), of('oversized-unpacked')];
    reportOfAzure(context, {
      assumption: 'logs-request-size',
      verdict: verdictBy([call, unpacked], call.status === 413 && unpacked.status === 413),
      evidence: `1.2 MB were answered with ${describeAnswer(call)}, 2 MB that are compressed with ${describeAnswer(unpacked)}.`,
      file,
    });
  });
}
