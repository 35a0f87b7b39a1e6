import { makeCertificate } from './certificate.ts';
import { createErrorLog } from './errors.ts';
import type { HubDefinition } from './event-hubs/hubs.ts';
import type { IdleLimits } from './event-hubs/links.ts';
import { type EventHubsSimulator, startEventHubs } from './event-hubs/server.ts';
import { type ImdsSimulator, startImds } from './imds/server.ts';
import type { VmDefinition } from './imds/vm.ts';
import type { Column } from './logs-ingestion/columns.ts';
import { type LogsIngestionSimulator, startLogsIngestion } from './logs-ingestion/server.ts';
import { createTokenIssuer } from './token-issuer.ts';

export interface AzureSimulatorOptions {
  /** Keeps the certificates: a start with the same one has the same. Default: a fresh temporary directory, removed on close. */
  readonly directory?: string;
  /** A name or address of this machine by which others reach it: it listens there and its addresses name it. Default: loopback. */
  readonly host?: string;
  /** The one event hub, unless `hubs` names several. Default `vm-lifecycle`. */
  readonly eventHubName?: string;
  /** Default 4. */
  readonly partitions?: number;
  /** Beside `$Default`. */
  readonly consumerGroups?: readonly string[];
  /** Instead of the three above. The first is the one meant where none is named. */
  readonly hubs?: readonly HubDefinition[];
  /** How long AMQP links and connections may idle. Default: as long as in Azure. */
  readonly eventHubsIdle?: Partial<IdleLimits>;
  /** Default `dcr-` and 32 zeros. */
  readonly ruleId?: string;
  /** Columns per stream, null keeping whatever is sent. Default: `Custom-VmLifecycle_CL` and `Custom-VmLifecycleBridge_CL`, undeclared. */
  readonly streams?: Readonly<Record<string, readonly Column[] | null>>;
  /** The audience of tokens for Logs Ingestion. Default `https://monitor.azure.com`. */
  readonly monitorAudience?: string;
  /** Not under 120: the Event Hubs SDK would spin. Default a day. */
  readonly tokenLifetimeSeconds?: number;
  /** Default: one VM, `web_0`. */
  readonly vms?: readonly VmDefinition[];
  /** Default: whatever is free. */
  readonly ports?: {
    readonly imds?: number;
    readonly eventHubs?: number;
    readonly eventHubsPlain?: number;
    readonly eventHubsWebSocket?: number;
    readonly logAnalytics?: number;
  };
}

/** As much of Azure as a bridge talks to, over real sockets, with TLS and signed tokens. */
export interface AzureSimulator {
  readonly imds: ImdsSimulator;
  readonly eventHubs: EventHubsSimulator;
  readonly logAnalytics: LogsIngestionSimulator;
  /** Every token issued so far is refused from now on, as when an identity is recreated. */
  revokeTokens(): void;
  /** PEM of the authority that signed the server certificates, as a file and as text. */
  readonly caFile: string;
  readonly ca: string;
  /** Exceptions inside the simulator's own handlers: tests assert that this is empty. */
  readonly errors: readonly Error[];
  close(): Promise<void>;
}

/** Starts it all; resolves when every port listens. @throws a sentence when a port is taken; nothing stays open then. */
export async function startAzureSimulator(options: AzureSimulatorOptions = {}): Promise<AzureSimulator> {
  const { ports = {}, partitions, consumerGroups } = options;
  const host = given({ host: options.host });
  const log = createErrorLog();
  const certificate = await makeCertificate(given({ directory: options.directory, host: options.host }));
  // A client keeps its token for a day: as long as the certificate is the same, tokens of an earlier start are good.
  const issuer = await createTokenIssuer({
    key: certificate.key,
    ...given({ lifetimeSeconds: options.tokenLifetimeSeconds }),
  });
  const closing: (() => Promise<void>)[] = [certificate.remove];
  const close = async (): Promise<void> => {
    await Promise.all(closing.splice(0).map((one) => one()));
  };
  const started = async <T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const one = await starting;
    closing.push(one.close);
    return one;
  };
  try {
    const { imds } = await started(
      startImds({ issuer, log, ...host, ...given({ port: ports.imds, vms: options.vms }) }),
    );
    const { eventHubs } = await started(
      startEventHubs({
        certificate,
        issuer,
        log,
        ...host,
        hubs: options.hubs ?? [given({ name: options.eventHubName, partitions, consumerGroups })],
        ports: given({ tls: ports.eventHubs, plain: ports.eventHubsPlain, webSocket: ports.eventHubsWebSocket }),
        ...given({ idle: options.eventHubsIdle }),
      }),
    );
    const { ruleId, streams, monitorAudience: audience } = options;
    const { logAnalytics } = await started(
      startLogsIngestion({
        certificate,
        issuer,
        log,
        ...host,
        ...given({ port: ports.logAnalytics, ruleId, streams, audience }),
      }),
    );
    const { ca, caFile } = certificate;
    return { imds, eventHubs, logAnalytics, revokeTokens: issuer.revoke, ca, caFile, errors: log.errors, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Leaves out undefined options, so that defaults apply. */
function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

export type { EventHubsFault } from './event-hubs/faults.ts';
export type { HubDefinition } from './event-hubs/hubs.ts';
export type { IdleLimits } from './event-hubs/links.ts';
export type { EventHubsSimulator } from './event-hubs/server.ts';
export type { StoredEvent } from './event-hubs/stored-event.ts';
export type { IngressLimit } from './event-hubs/throttle.ts';
export type { IssuedStep } from './imds/document.ts';
export type { Fault as ImdsFault } from './imds/faults.ts';
export type { ImdsSimulator, ImdsTarget } from './imds/server.ts';
export type { Vm, VmDefinition } from './imds/vm.ts';
export type { EventPatch, NewEvent, WireDocument, WireEvent } from './imds/wire.ts';
export type { Column, Row } from './logs-ingestion/columns.ts';
export type { RuleLimit } from './logs-ingestion/rule-limit.ts';
export type { LogsFault, LogsIngestionSimulator, LogsRequest } from './logs-ingestion/server.ts';
