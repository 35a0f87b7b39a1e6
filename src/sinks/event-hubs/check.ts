import { type Destination, sentence } from '../../azure/failure.ts';
import { proxyBefore } from '../../azure/proxy.ts';
import { type NetworkPath, probe, unbracketed } from '../../check/connectivity.ts';
import { networkMs, objectIdFor, type SinkCheckContext, tokenMs, withTokens } from '../../check/context.ts';
import { type Finding, ok, problem } from '../../check/finding.ts';
import { networkFindings, notAsked, testRecordFinding } from '../../check/network.ts';
import type { KnownVm } from '../../check/remedy.ts';
import type { Observer } from '../../lifecycle/scheduled-event.ts';
import type { CheckResult, SendResult } from '../sink.ts';
import { destinationOf, type EventHubsConfig, eventHubsScope } from './config.ts';
import type { eventHubsFindings } from './findings.ts';
import { grantSend, listEventHubs, listPolicies, showNetworkRules, switchHubOn } from './remedy.ts';
import { createEventHubsSink } from './sink.ts';

type EventHubsFinding = Finding<keyof typeof eventHubsFindings>;

/** Together with the token these stay under 30 s. */
const waits = { tokenMs, connectMs: 9_000, sendMs: 7_000, exchangeMs: 8_000 };

export async function checkEventHubs(
  config: EventHubsConfig,
  context: SinkCheckContext,
): Promise<readonly EventHubsFinding[]> {
  const { clock, credential, signal, write } = context;
  const to = destinationOf(config);
  const way = networkPathTo(config, to);
  const sink = createEventHubsSink({ config: { ...config, connectJitterSeconds: 0 }, credential, clock, waits });
  const check = () => sink.check(signal);
  try {
    const [seen, verdict] = await Promise.all([
      probe(way, networkMs, signal),
      config.connectionString === null ? withTokens(context, check) : check(),
    ]);
    const vm = await context.vm();
    const entry = write && verdict.ok ? await context.testEntry() : null;
    return [
      ...networkFindings('eventHubs', { way, seen, to, now: clock.now() }),
      ...sendFindings({
        config,
        to,
        verdict,
        isReachable: seen.failed === null,
        objectId: await objectIdFor(context, eventHubsScope),
        vm,
        write,
        probe: entry && (await sink.send([entry], signal)),
      }),
    ];
  } finally {
    await sink.close();
  }
}

export function networkPathTo(config: EventHubsConfig, to: Destination): NetworkPath {
  const tls = !/;\s*UseDevelopmentEmulator\s*=\s*true/i.test(config.connectionString ?? '');
  const overWebSockets = config.transport === 'amqp-ws';
  const { hostname, port } = URL.parse(`amqp://${to.host}`) ?? { hostname: to.host, port: '' };
  const usual = overWebSockets ? 443 : tls ? 5671 : 5672;
  const proxy = overWebSockets ? proxyBefore(to.host) : null;
  return { host: unbracketed(hostname), port: Number(port || usual), tls, proxy };
}

export interface SendSeen {
  readonly config: EventHubsConfig;
  readonly to: Destination;
  /** Of opening a sending link. */
  readonly verdict: CheckResult;
  readonly isReachable: boolean;
  readonly objectId: string | null;
  readonly vm: Observer | KnownVm;
  readonly write: boolean;
  /** Null: not tried. */
  readonly probe: SendResult | null;
}

export function sendFindings(seen: SendSeen): readonly EventHubsFinding[] {
  const { to, verdict, isReachable, write, probe } = seen;
  const probed: readonly EventHubsFinding[] = write ? [testRecordFinding('eventHubs.probe', probe, seen)] : [];
  const sending = verdict.ok
    ? ok('eventHubs.send', `${sentence(to.sender)} may send to ${to.name}: a sending link was opened.`)
    : (notAsked('eventHubs.send', verdict, isReachable) ??
      problem('eventHubs.send', verdict.detail, remedyFor(verdict.code, seen)));
  return [sending, ...probed];
}

function remedyFor(code: string, { config, vm, objectId }: SendSeen): string | undefined {
  const { fullyQualifiedNamespace, connectionString, eventHubName } = config;
  const namespace = fullyQualifiedNamespace ?? destinationOf({ ...config, customEndpoint: null }).host;
  const hub = { namespace, eventHub: eventHubName };
  if (code === 'unauthorized') {
    const policy = /SharedAccessKeyName\s*=\s*([^;]+)/i.exec(connectionString ?? '')?.[1] ?? null;
    return connectionString === null ? grantSend(hub, objectId, vm) : listPolicies({ ...hub, policy }, vm);
  }
  if (code === 'not-found') return listEventHubs(namespace, vm);
  if (code === 'network-refused') return showNetworkRules(namespace, vm);
  return code === 'disabled' ? switchHubOn(hub, vm) : undefined;
}
