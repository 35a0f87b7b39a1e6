import type { Destination } from '../../azure/failure.ts';
import { proxyBefore } from '../../azure/proxy.ts';
import type { Observer } from '../../lifecycle/scheduled-event.ts';
import { destinationOf, type EventHubsConfig } from '../../sinks/event-hubs/config.ts';
import { createEventHubsSink } from '../../sinks/event-hubs/sink.ts';
import type { CheckResult, SendResult } from '../../sinks/sink.ts';
import { type NetworkPath, probe } from './connectivity.ts';
import { type CheckContext, tokenMs, withToken } from './context.ts';
import { type Finding, notProven, ok, problem } from './finding.ts';
import { networkFindings } from './network.ts';
import { probeEntry } from './probe-record.ts';
import { grantSend, type KnownVm, listEventHubs, listPolicies, showNetworkRules, switchHubOn } from './remedy.ts';

const networkMs = 10_000;
/** Together with the token these stay under 30 s. */
const waits = { tokenMs, connectMs: 9_000, sendMs: 7_000, exchangeMs: 8_000 };

export async function checkEventHubs(context: CheckContext): Promise<readonly Finding[]> {
  const { config, clock, credential, signal, write } = context;
  const { eventHubs } = config.sinks;
  if (eventHubs === null) return [];
  const to = destinationOf(eventHubs);
  const way = networkPathTo(eventHubs, to);
  const sink = createEventHubsSink({ config: { ...eventHubs, connectJitterSeconds: 0 }, credential, clock, waits });
  try {
    const [seen, verdict] = await Promise.all([
      probe(way, networkMs, signal),
      withToken(eventHubs.connectionString === null ? context : null, () => sink.check(signal)),
    ]);
    const vm = await context.vm();
    const sent =
      write && verdict.ok && vm !== null
        ? await sink.send([probeEntry(vm, clock.now(), config.imds.apiVersion)], signal)
        : null;
    const [token] = await context.tokens();
    const objectId = token?.claims?.objectId ?? null;
    return [
      ...networkFindings('eventHubs', { way, seen, to, now: clock.now() }),
      ...sendFindings({
        config: eventHubs,
        to,
        verdict,
        wayIsOpen: seen.failed === null,
        objectId,
        vm,
        write,
        probe: sent,
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
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || usual), tls, proxy };
}

export interface SendSeen {
  readonly config: EventHubsConfig;
  readonly to: Destination;
  /** What opening a sending link came to. */
  readonly verdict: CheckResult;
  readonly wayIsOpen: boolean;
  readonly objectId: string | null;
  readonly vm: Observer | KnownVm;
  readonly write: boolean;
  /** Null: not tried. */
  readonly probe: SendResult | null;
}

export function sendFindings(seen: SendSeen): readonly Finding[] {
  const { to, verdict, wayIsOpen, write, probe } = seen;
  const probed: readonly Finding[] = write ? [probeFinding(seen, probe)] : [];
  if (verdict.ok) {
    return [
      ok('eventHubs.send', `${sentence(to.sender)} may send to ${to.name}: a sending link was opened.`),
      ...probed,
    ];
  }
  if (verdict.code.startsWith('token-')) {
    return [notProven('eventHubs.send', 'Without a token the hub cannot be asked: see identity.token.'), ...probed];
  }
  if (!wayIsOpen) {
    return [notProven('eventHubs.send', 'Not tried further, since the way to it is not open: see above.'), ...probed];
  }
  return [problem('eventHubs.send', verdict.detail, remedyFor(verdict.code, seen)), ...probed];
}

function probeFinding({ to, vm }: SendSeen, probe: SendResult | null): Finding {
  const what = 'eventHubs.probe';
  if (probe === null) {
    return notProven(
      what,
      vm === null ? 'No test record was sent: this VM does not know its name.' : 'No test record was sent.',
    );
  }
  if (probe.kind === 'delivered') return ok(what, `${sentence(to.name)} took a test record (isTest is true).`);
  return problem(what, probe.reason);
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

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
