import type { Destination } from '../../azure/failure.ts';
import { proxyBefore } from '../../azure/proxy.ts';
import { destinationOf, type LogAnalyticsConfig } from '../../sinks/log-analytics/config.ts';
import { columnOf } from '../../sinks/log-analytics/encode.ts';
import { createLogAnalyticsSink } from '../../sinks/log-analytics/sink.ts';
import type { CheckResult, Entry, SendResult } from '../../sinks/sink.ts';
import { type NetworkPath, probe } from './connectivity.ts';
import { type CheckContext, tokenMs, withToken } from './context.ts';
import { type Finding, notProven, ok, problem } from './finding.ts';
import { networkFindings } from './network.ts';
import { probeEntry } from './probe-record.ts';
import { grantPublish, type KnownVm, listRules, queryFor } from './remedy.ts';

const networkMs = 10_000;
/** With the token, and twice where a row is written, under 30 s. */
const waits = { tokenMs, uploadMs: 8_000 };

export async function checkLogAnalytics(context: CheckContext): Promise<readonly Finding[]> {
  const { config, clock, credential, signal, write } = context;
  const { logAnalytics } = config.sinks;
  if (logAnalytics === null) return [];
  const to = destinationOf(logAnalytics);
  const way = networkPathTo(logAnalytics);
  const sink = createLogAnalyticsSink({ config: logAnalytics, credential, clock, waits });
  const [seen, verdict] = await Promise.all([
    probe(way, networkMs, signal),
    withToken(context, () => sink.check(signal)),
  ]);
  const vm = await context.vm();
  const entry = write && verdict.ok && vm !== null ? probeEntry(vm, clock.now(), config.imds.apiVersion) : null;
  const result = entry && (await sink.send([entry], signal));
  await sink.close();
  const objectId = (await context.tokens()).at(-1)?.claims?.objectId ?? null;
  return [
    ...networkFindings('logAnalytics', { way, seen, to, now: clock.now() }),
    ...writeFindings({
      config: logAnalytics,
      to,
      verdict,
      wayIsOpen: seen.failed === null,
      objectId,
      vm,
      write,
      probe: entry && result ? { entry, result } : null,
    }),
  ];
}

export function networkPathTo({ endpoint }: LogAnalyticsConfig): NetworkPath {
  const { hostname, port } = new URL(endpoint);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443), tls: true, proxy: proxyBefore(hostname) };
}

export interface WriteSeen {
  readonly config: LogAnalyticsConfig;
  readonly to: Destination;
  /** What an empty request came to. */
  readonly verdict: CheckResult;
  readonly wayIsOpen: boolean;
  readonly objectId: string | null;
  readonly vm: KnownVm;
  readonly write: boolean;
  /** Null: not tried. */
  readonly probe: { readonly entry: Entry; readonly result: SendResult } | null;
}

export const writeFindings = (seen: WriteSeen): readonly Finding[] => [
  right(seen),
  ...(seen.write ? [probed(seen)] : []),
  columns(seen),
];

function right(seen: WriteSeen): Finding {
  const what = 'logAnalytics.write';
  const { verdict, wayIsOpen, probe, to } = seen;
  if (probe?.result.kind === 'delivered') return ok(what, `${sentence(to.sender)} may write to ${to.name}.`);
  if (verdict.ok) {
    return notProven(
      what,
      `${sentence(to.sender)} probably may write to ${to.name}: an empty request was not refused. Only a row proves it: check --write.`,
    );
  }
  if (verdict.code.startsWith('token-')) {
    return notProven(what, 'Without a token the rule cannot be asked: see identity.token.');
  }
  if (!wayIsOpen) return notProven(what, 'Not tried further, since the way to it is not open: see above.');
  return problem(what, verdict.detail, remedyFor(seen));
}

function probed({ to, vm, probe }: WriteSeen): Finding {
  const what = 'logAnalytics.probe';
  if (probe === null) {
    return notProven(
      what,
      vm === null ? 'No test row was sent: this VM does not know its name.' : 'No test row was sent.',
    );
  }
  const { result } = probe;
  if (result.kind === 'delivered') return ok(what, `${sentence(to.name)} accepted a test row (IsTest is true).`);
  return problem(what, result.reason);
}

/** A rule answers 204 and drops a column that it does not declare: only a look into the table tells that. */
function columns({ config, probe }: WriteSeen): Finding {
  const what = 'logAnalytics.columns';
  const count = Object.keys(columnOf).length + 1;
  if (probe === null) {
    return notProven(what, `Whether the stream takes all ${count} columns can only be proven by a row: check --write.`);
  }
  if (probe.result.kind !== 'delivered') return notProven(what, 'The test row was not accepted: see above.');
  return ok(
    what,
    `None of the ${count} columns was refused. One that the stream does not declare is dropped without a word: this shows what arrived, after some minutes.`,
    queryFor(config.streamName, probe.entry.record.recordId),
  );
}

function remedyFor({ verdict, config, objectId, vm }: WriteSeen): string | undefined {
  const { code, said = '' } = verdict;
  if (code === 'http-404' || code === 'http-400') return listRules(vm);
  if (code !== 'http-403') return undefined;
  // The service names the rule with its refusal; and says so where the endpoint, not the role, is wrong.
  if (/IsDcrDceBindingValid: False/i.test(said)) return listRules(vm);
  const resourceId = /DcrArmId: (\/subscriptions\/[^\s,"]+)/i.exec(said)?.[1] ?? null;
  return grantPublish({ ruleId: config.ruleId, resourceId }, objectId, vm);
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
