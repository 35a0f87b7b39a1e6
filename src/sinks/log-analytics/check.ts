import { type Destination, sentence } from '../../azure/failure.ts';
import { networkPathTo, probe } from '../../check/connectivity.ts';
import { networkMs, objectIdFor, type SinkCheckContext, tokenMs, withTokens } from '../../check/context.ts';
import { type Finding, notProven, ok, problem } from '../../check/finding.ts';
import { networkFindings, notAsked, testRecordFinding } from '../../check/network.ts';
import type { KnownVm } from '../../check/remedy.ts';
import type { CheckResult, ParsedEntry, SendResult } from '../sink.ts';
import { monitorScope } from './clouds.ts';
import { destinationOf, hostOf, type LogAnalyticsConfig } from './config.ts';
import { columnOf } from './encode.ts';
import type { logAnalyticsFindings } from './findings.ts';
import { grantPublish, listRules, queryFor } from './remedy.ts';
import { createLogAnalyticsSink } from './sink.ts';

type LogAnalyticsFinding = Finding<keyof typeof logAnalyticsFindings>;

/** With the token, and twice where a row is written, under 30 s. */
const waits = { tokenMs, uploadMs: 8_000 };

export async function checkLogAnalytics(
  config: LogAnalyticsConfig,
  context: SinkCheckContext,
): Promise<readonly LogAnalyticsFinding[]> {
  const { clock, credential, signal, write } = context;
  const to = destinationOf(config);
  const way = networkPathTo(config.endpoint);
  const sink = createLogAnalyticsSink({ config, credential, clock, waits });
  const [seen, verdict] = await Promise.all([
    probe(way, networkMs, signal),
    withTokens(context, () => sink.check(signal)),
  ]);
  const vm = await context.vm();
  const entry = write && verdict.ok ? await context.testEntry() : null;
  const result = entry && (await sink.send([entry], signal));
  await sink.close();
  return [
    ...networkFindings('logAnalytics', { way, seen, to, now: clock.now() }),
    ...writeFindings({
      config,
      to,
      verdict,
      isReachable: seen.failed === null,
      objectId: await objectIdFor(context, monitorScope(hostOf(config.endpoint))),
      vm,
      write,
      probe: entry && result ? { entry, result } : null,
    }),
  ];
}

export interface WriteSeen {
  readonly config: LogAnalyticsConfig;
  readonly to: Destination;
  /** Of an empty request. */
  readonly verdict: CheckResult;
  readonly isReachable: boolean;
  readonly objectId: string | null;
  readonly vm: KnownVm;
  readonly write: boolean;
  /** Null: not tried. */
  readonly probe: { readonly entry: ParsedEntry; readonly result: SendResult } | null;
}

export const writeFindings = (seen: WriteSeen): readonly LogAnalyticsFinding[] => [
  right(seen),
  ...(seen.write ? [testRecordFinding('logAnalytics.probe', seen.probe?.result ?? null, seen)] : []),
  columns(seen),
];

function right(seen: WriteSeen): LogAnalyticsFinding {
  const what = 'logAnalytics.write';
  const { verdict, isReachable, probe, to } = seen;
  if (probe?.result.kind === 'delivered') return ok(what, `${sentence(to.sender)} may write to ${to.name}.`);
  if (verdict.ok) {
    return notProven(
      what,
      `${sentence(to.sender)} probably may write to ${to.name}: an empty request was not refused. Only a row proves it: check --write.`,
    );
  }
  return notAsked(what, verdict, isReachable) ?? problem(what, verdict.detail, remedyFor(seen));
}

// assumption: logs-unknown-column
/** A rule answers 204 and drops a column that it does not declare: only the table shows that. */
function columns({ config, probe }: WriteSeen): LogAnalyticsFinding {
  const what = 'logAnalytics.columns';
  const count = Object.keys(columnOf).length + 1;
  if (probe === null) {
    return notProven(what, `Whether the stream takes all ${count} columns can only be proven by a row: check --write.`);
  }
  if (probe.result.kind !== 'delivered') return notProven(what, 'The test record was not accepted: see above.');
  return ok(
    what,
    `None of the ${count} columns was refused. Azure silently drops columns that the stream does not declare: this shows what arrived, after some minutes.`,
    queryFor(config.streamName, probe.entry.record.recordId),
  );
}

function remedyFor({ verdict, config, objectId, vm }: WriteSeen): string | undefined {
  const { code, said = '' } = verdict;
  if (code === 'http-404' || code === 'http-400') return listRules(vm);
  if (code !== 'http-403') return undefined;
  // assumption: logs-role-missing, logs-rule-endpoint
  // The service names the rule with its refusal; and says so where the endpoint, not the role, is wrong.
  if (/IsDcrDceBindingValid: False/i.test(said)) return listRules(vm);
  const resourceId = /DcrArmId: (\/subscriptions\/[^\s,"]+)/i.exec(said)?.[1] ?? null;
  return grantPublish({ ruleId: config.ruleId, resourceId }, objectId, vm);
}
