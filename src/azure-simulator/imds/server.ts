import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodePart } from '../decode-part.ts';
import type { ErrorLog } from '../errors.ts';
import { createFaultQueue } from '../fault-queue.ts';
import { inUrl, listen, loopback } from '../listen.ts';
import { readBody } from '../read-body.ts';
import type { TokenIssuer } from '../token-issuer.ts';
import { type Answer, json, type Request, refuseForeign, unknownVersion } from './answer.ts';
import { createGroupDocument, type GroupDocument, type IssuedStep } from './document.ts';
import { type Fault, playFault, write } from './faults.ts';
import { createFeatureSwitch, type FeatureSwitch } from './feature-switch.ts';
import { instanceMetadata, instanceVersions } from './instance.ts';
import { answerPart } from './instance-part.ts';
import { createRequestLimit } from './request-limit.ts';
import { answerScheduledEvents } from './scheduled-events.ts';
import { answerToken } from './token.ts';
import type { Vm, VmDefinition } from './vm.ts';
import { createVms, type KnownVm } from './vms.ts';
import type { WireDocument } from './wire.ts';

/** The simulated endpoints; `instance` includes everything below it. */
export type ImdsTarget = 'scheduledevents' | 'instance' | 'token' | 'versions';

/** The metadata service of a whole placement group: each VM under its own path prefix, all with one document. */
export interface ImdsSimulator
  extends Pick<GroupDocument, 'schedule' | 'start' | 'remove' | 'update' | 'change' | 'find' | 'watch'>,
    Pick<FeatureSwitch, 'switchOff' | 'firstCallDelay'> {
  /** `http://127.0.0.1:PORT`: the metadata service of the first VM. */
  readonly url: string;
  /** The metadata service of a VM, which is added if it is not there yet. */
  vmUrl(name: string): string;
  /**
   * Adds a VM, or replaces the one of that name. A name met first in a path adds a VM of that name by itself: a VM joins the group when it
   * first asks.
   */
  addVm(vm: VmDefinition): Vm;
  readonly vms: readonly Vm[];
  /** A copy of what is listed now, in the newest version. */
  readonly document: WireDocument;
  /** Every change made, in order. */
  readonly issued: readonly IssuedStep[];
  /** Answers the next requests for `target` with a fault: until cleared with `null`, or `times` times. */
  fault(target: ImdsTarget, fault: Fault | null, times?: number): void;
  /** Requests for scheduled events (GET) per VM name. */
  readonly polls: Readonly<Record<string, number>>;
  /** Of those, the ones that were answered with the document, and not with an error or a fault. */
  readonly documentsSent: Readonly<Record<string, number>>;
  /** All requests for a target, of all VMs or of one. */
  requests(target: ImdsTarget, vm?: string): number;
  /** As if that VM had approved it: the event starts for all of its resources. */
  approve(eventId: string, vm: string): void;
  readonly approvals: readonly { readonly at: Date; readonly vm: string; readonly eventId: string }[];
  /** Whether documents carry an ETag and If-None-Match is answered with 304. Off at start. */
  offerEtag(on: boolean): void;
  /** Azure's time in the `Date` header: this many milliseconds after this machine's. */
  shiftDate(ms: number): void;
  /** Requests a second that one VM may make; more are answered with 429. Null, as at start: any number. */
  limitRate(requestsPerSecond: number | null): void;
  /** The versions of `/metadata/instance` that the host supports; an older host supports fewer. */
  knowInstanceVersions(versions: readonly string[]): void;
  /** Client ids or resource ids of the user-assigned identities of every VM; null (at start): any id is accepted. */
  assignIdentities(ids: readonly string[] | null): void;
}

export interface ImdsOptions {
  readonly port?: number;
  /** Default: loopback. */
  readonly host?: string;
  readonly issuer: TokenIssuer;
  readonly log: ErrorLog;
  /** Default: one, `web_0`. */
  readonly vms?: readonly VmDefinition[];
  /** Milliseconds, for every measured time. Default: this machine's clock. */
  readonly now?: () => number;
}

export async function startImds(options: ImdsOptions): Promise<{ imds: ImdsSimulator; close(): Promise<void> }> {
  const { issuer, log, now = Date.now, host = loopback } = options;
  const group = createGroupDocument();
  const vms = createVms(group, options.vms ?? [{ name: 'web_0' }]);
  const feature = createFeatureSwitch(() =>
    group.change((document) => {
      document.DocumentIncarnation = 1;
    }),
  );
  const limit = createRequestLimit();
  const faults = {
    scheduledevents: createFaultQueue<Fault>(),
    instance: createFaultQueue<Fault>(),
    token: createFaultQueue<Fault>(),
    versions: createFaultQueue<Fault>(),
  };
  const polls: Record<string, number> = {};
  const documentsSent: Record<string, number> = {};
  const counts = new Map<string, number>();
  const approvals: { at: Date; vm: string; eventId: string }[] = [];
  const settings: Settings = { etag: false, dateShiftMs: 0, versions: instanceVersions, identities: null };

  const approve = (eventId: string, vm: string): void => {
    const event = group.find(eventId);
    if (event === undefined) return;
    approvals.push({ at: new Date(), vm, eventId: event.EventId });
    group.start(eventId);
  };

  const answer = async ({ target, keys }: Route, { vm, view }: KnownVm, request: Request): Promise<Answer> => {
    if (limit.isExceeded(vm.name, now())) return tooManyRequests;
    const refusal = refuseForeign(request);
    if (refusal !== null) return refusal;
    if (target === 'token') return answerToken(request, vm, issuer, settings.identities);
    if (target === 'scheduledevents') {
      const delayMs = feature.asked(now());
      if (delayMs > 0) await sleep(delayMs, undefined, { ref: false });
      const { etag } = settings;
      return answerScheduledEvents(request, { group, view, etag, approve: (eventId) => approve(eventId, vm.name) });
    }
    if (request.method !== 'GET') return { status: 405, headers: { allow: 'GET' }, body: '' };
    if (target === 'versions') return json(200, { apiVersions: ['2017-03-01', ...settings.versions] });
    const version = request.query.get('api-version') ?? '';
    if (!settings.versions.includes(version)) return unknownVersion(settings.versions);
    return answerPart(instanceMetadata(vm, version), keys, request.query.get('format') ?? 'json');
  };

  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(message.url ?? '/', 'http://imds');
    const found = route(url.pathname);
    const body = await readBody(message);
    if (body === null) return;
    if (found === null) return write(response, json(404, { error: 'Not found' }));
    const { target } = found;
    const known = vms.get(found.vmName);
    const { name } = known.vm;
    const method = message.method ?? 'GET';
    const isPoll = target === 'scheduledevents' && method === 'GET';
    if (isPoll) polls[name] = (polls[name] ?? 0) + 1;
    for (const key of [target, `${target} ${name}`]) counts.set(key, (counts.get(key) ?? 0) + 1);
    const fault = faults[target].take();
    const good = await answer(found, known, {
      method,
      query: url.searchParams,
      headers: message.headers,
      body: body.toString('utf8'),
    });
    const isDocument = fault === null && (good.status === 200 || good.status === 304);
    if (isPoll && isDocument) documentsSent[name] = (documentsSent[name] ?? 0) + 1;
    const azureTime = now() + settings.dateShiftMs + 1000 * known.vm.clockOffsetSeconds;
    response.setHeader('date', new Date(azureTime).toUTCString());
    if (fault === null) write(response, good);
    else await playFault(fault, good, response);
  };

  const server = createServer(log.guard(handle));
  const url = `http://${inUrl(host)}:${await listen(server, options.port ?? 0, 'the metadata service', host)}`;

  const imds: ImdsSimulator = {
    url,
    vmUrl: (name) => `${url}/vm/${encodeURIComponent(vms.get(name).vm.name)}`,
    addVm: vms.add,
    get vms() {
      return vms.all;
    },
    get document() {
      return group.current;
    },
    issued: group.issued,
    schedule: group.schedule,
    start: group.start,
    remove: group.remove,
    update: group.update,
    change: group.change,
    find: group.find,
    watch: group.watch,
    switchOff: feature.switchOff,
    firstCallDelay: feature.firstCallDelay,
    limitRate: limit.set,
    fault: (target, fault, times) => faults[target].set(fault, times),
    polls,
    documentsSent,
    requests: (target, vm) => counts.get(vm === undefined ? target : `${target} ${vm}`) ?? 0,
    approve,
    approvals,
    offerEtag(etag) {
      settings.etag = etag;
    },
    shiftDate(ms) {
      settings.dateShiftMs = ms;
    },
    knowInstanceVersions(versions) {
      settings.versions = versions;
    },
    assignIdentities(ids) {
      settings.identities = ids;
    },
  };
  return {
    imds,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What a test may turn while the service runs. */
interface Settings {
  etag: boolean;
  dateShiftMs: number;
  versions: readonly string[];
  identities: readonly string[] | null;
}

const tooManyRequests = json(429, { error: 'Too many requests' }, { 'retry-after': '1' });

/** What each path is about. What is caught leads on into the instance metadata. */
const targets: readonly (readonly [RegExp, ImdsTarget])[] = [
  [/^\/metadata\/scheduledevents\/?$/i, 'scheduledevents'],
  [/^\/metadata\/instance((?:\/.*)?)$/i, 'instance'],
  [/^\/metadata\/versions\/?$/i, 'versions'],
  [/^\/metadata\/identity\/oauth2\/token\/?$/i, 'token'],
];

interface Route {
  /** Null: the first VM. */
  readonly vmName: string | null;
  readonly target: ImdsTarget;
  /** What follows in the path, decoded; null for a part that cannot be. */
  readonly keys: readonly (string | null)[];
}

/** Null where nothing is. */
function route(pathname: string): Route | null {
  const [, prefix, path = ''] = /^(?:\/vm\/([^/]+))?(\/.*)$/.exec(pathname) ?? [];
  const vmName = prefix === undefined ? null : decodePart(prefix);
  const [pattern, target] = targets.find(([one]) => one.test(path)) ?? [];
  if (pattern === undefined || target === undefined || (prefix !== undefined && vmName === null)) return null;
  const below = pattern.exec(path)?.[1] ?? '';
  const keys = below
    .split('/')
    .filter((key) => key !== '')
    .map(decodePart);
  return { vmName, target, keys };
}
