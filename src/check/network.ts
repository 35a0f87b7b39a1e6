import { classify } from '../azure/errors.ts';
import { type Destination, sentence } from '../azure/failure.ts';
import { type OperatingSystem, thisSystem } from '../operating-system.ts';
import type { CheckResult, SendResult } from '../sinks/sink.ts';
import type { NetworkPath, ProbeResult, Step } from './connectivity.ts';
import { type Finding, notProven, ok, problem, warning } from './finding.ts';
import type { KnownVm } from './remedy.ts';

const steps: readonly Step[] = ['name', 'tcp', 'tls'];
/** Azure renews its own certificates long before; another authority may have forgotten. */
const soonMs = 3 * 86_400_000;

/** The finding of a destination that could not be asked; null where it was: there is a token, and a connection to it. */
export function notAsked<Id extends string>(what: Id, result: CheckResult, isReachable: boolean): Finding<Id> | null {
  if (result.code.startsWith('token-'))
    return notProven(what, 'Not tried, since there is no token: see identity.token.');
  return isReachable ? null : notProven(what, 'Not tried, since there is no connection: see above.');
}

/** The finding of the test record that `--write` sends; `result` is null where none was sent. */
export function testRecordFinding<Id extends string>(
  what: Id,
  result: SendResult | null,
  { to, vm }: { readonly to: Destination; readonly vm: KnownVm },
): Finding<Id> {
  if (result === null)
    return notProven(what, `No test record was sent${vm === null ? ': this VM does not know its name' : ''}.`);
  if (result.kind === 'delivered') return ok(what, `${sentence(to.name)} accepted a test record (isTest is true).`);
  return problem(what, result.reason);
}

/** What the way to a sink proves: one line for each step of it. */
export function networkFindings<Key extends string>(
  sink: Key,
  {
    way,
    seen,
    to,
    now,
    system = thisSystem,
  }: {
    readonly way: NetworkPath;
    readonly seen: ProbeResult;
    readonly to: Destination;
    readonly now: Date;
    readonly system?: OperatingSystem;
  },
): readonly Finding<`${Key}.${Step}`>[] {
  const wanted = way.tls ? steps : steps.slice(0, 2);
  const failedAt = seen.failed ? wanted.indexOf(seen.failed.step) : wanted.length;
  return wanted.map((step, index) => {
    const what = `${sink}.${step}` as const;
    if (index < failedAt) return reached(what, step, way, seen, now);
    if (index > failedAt) return notProven(what, `Not tried, since ${sink}.${wanted[failedAt]} failed.`);
    return problem(what, classify(seen.failed?.error, to, now).reason, showWay(step, way, system));
  });
}

function reached<Id extends string>(what: Id, step: Step, way: NetworkPath, seen: ProbeResult, now: Date): Finding<Id> {
  const { host, port } = way;
  if (step === 'name') {
    if (seen.proxy) return ok(what, `The proxy ${seen.proxy} opens a tunnel to ${host}:${port}.`);
    return ok(what, `${host} resolves to ${listed(seen.addresses)}.`);
  }
  if (step === 'tcp') return ok(what, `A connection to ${host}:${port} took ${seen.connectMs} ms.`);
  const { issuer = '', validTo = '' } = seen.certificate ?? {};
  const until = Date.parse(validTo);
  const message = `The certificate of ${host} is trusted: issued by ${issuer}, valid until ${Number.isNaN(until) ? validTo : new Date(until).toISOString().slice(0, 10)}.`;
  return until - now.getTime() < soonMs
    ? warning(what, `${message} That is soon: make sure that it is renewed.`)
    : ok(what, message);
}

const listed = (addresses: readonly string[]): string =>
  addresses.length > 3 ? `${addresses.slice(0, 3).join(', ')} and ${addresses.length - 3} more` : addresses.join(', ');

/** What shows more than a check can. */
function showWay(step: Step, { host, port, proxy }: NetworkPath, system: OperatingSystem): string | undefined {
  if (step === 'tls') return system.showCertificate(host, port, proxy?.host);
  return proxy ? undefined : step === 'name' ? `nslookup ${host}` : system.probePort(host, port);
}
