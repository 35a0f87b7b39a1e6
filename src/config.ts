/** The configuration, every option once: its key, meaning, default and what is accepted. Reading files and variables is the command line's. */

import { type Accepts, flag, list, number, oneOf, presence, text, url, wholeNumber } from './config-values.ts';

/** As JSON has it, after defaults. What is optional and absent is null. Seconds and megabytes as named. */
export interface Config {
  readonly imds: {
    /** Base URL without a slash at the end; or `auto`. */
    readonly endpoint: string;
    readonly apiVersion: string;
    readonly pollIntervalSeconds: number;
    readonly timeoutSeconds: number;
    readonly firstTimeoutSeconds: number;
  };
  /** Overrides instance metadata field by field; only what is set is here. `tags` names the VM's tags to publish. */
  readonly observer: { readonly tags: readonly string[] } & { readonly [Field in ObserverField]?: string };
  readonly scope: { readonly witnessRate: number };
  readonly stateDirectory: string;
  readonly outbox: { readonly maxMegabytes: number };
  readonly identity: { readonly clientId: string | null };
  readonly sinks: {
    readonly eventHubs: null | {
      /** Exactly one of this and `connectionString` is set. */
      readonly fullyQualifiedNamespace: string | null;
      /** A secret: never logged. */
      readonly connectionString: string | null;
      readonly eventHubName: string;
      readonly customEndpoint: string | null;
      readonly transport: 'amqp' | 'amqp-ws';
      readonly idleCloseSeconds: number;
      readonly connectJitterSeconds: number;
    };
    readonly logAnalytics: null | { readonly endpoint: string; readonly ruleId: string; readonly streamName: string };
    readonly stdout: null | Readonly<Record<string, never>>;
  };
  readonly tls: { readonly caFile: string | null };
  readonly proxy: null | {
    /** With a password in it, a secret: never logged. */
    readonly url: string;
    readonly bypass: readonly string[];
  };
  readonly approve: {
    readonly userInitiated: boolean;
    readonly freezeUpToSeconds: number | null;
    readonly onBehalfOf: readonly string[];
    readonly onBehalfAfterSeconds: number;
  };
  readonly heartbeat: { readonly everyMinutes: number; readonly streamName: string; readonly eventHubs: boolean };
  readonly http: { readonly port: number };
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' };
}

/** Fields of the observer VM that can be set by hand, by the record's names. */
export const observerFields = [
  'computer',
  'vmId',
  'vmName',
  'resourceId',
  'subscriptionId',
  'resourceGroup',
  'vmScaleSetName',
  'vmScaleSetResourceId',
  'placementGroupId',
  'location',
  'zone',
  'physicalZone',
  'faultDomain',
  'updateDomain',
  'vmSize',
  'vmPriority',
  'osType',
  'imageReference',
  'azureEnvironment',
] as const;
export type ObserverField = (typeof observerFields)[number];

/** The published versions of the Scheduled Events API: https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events */
export const imdsApiVersions = [
  '2017-03-01',
  '2017-08-01',
  '2017-11-01',
  '2019-01-01',
  '2019-04-01',
  '2019-08-01',
  '2020-07-01',
] as const;

type Leaf = string | number | boolean | readonly string[] | Readonly<Record<string, never>>;
/** Every key of the configuration, as `imds.endpoint`. */
type PathOf<T> = {
  [K in keyof T & string]-?: NonNullable<T[K]> extends Leaf ? K : `${K}.${PathOf<NonNullable<T[K]>>}`;
}[keyof T & string];
type At<T, P> = P extends `${infer K}.${infer Rest}`
  ? K extends keyof T
    ? At<NonNullable<T[K]>, Rest>
    : never
  : P extends keyof T
    ? T[P]
    : never;
export type Path = PathOf<Config>;

/** One row of the table. */
export interface Option {
  readonly path: string;
  readonly accepts: Accepts<unknown>;
  /** `undefined`: left out when not set. `required`: has to be set wherever its section is. */
  readonly fallback: unknown;
  readonly meaning: string;
  /** Whether this value is a secret: never shown, and only taken from where others cannot read it. Asked of bad values too. */
  readonly isSecret?: (value: unknown) => boolean;
}

const always = (): boolean => true;

/** Also of what is no URL because of what the password holds. */
const hasPassword = (value: unknown): boolean =>
  typeof value === 'string' && /^([a-z]+:\/\/)?[^:]*:(?!\/\/).*@/is.test(value);

export const required = Symbol('required');

function option<P extends Path>(
  path: P,
  accepts: Accepts<NonNullable<At<Config, P>>> | Accepts<At<Config, P>>,
  fallback: At<Config, P> | typeof required,
  meaning: string,
  more: Pick<Option, 'isSecret'> = {},
): Option & { readonly path: P } {
  return { path, accepts, fallback, meaning, ...more };
}

/** Sections that are null unless a key of them is set. */
export const optionalSections: readonly string[] = ['sinks.eventHubs', 'sinks.logAnalytics', 'proxy'];

const seconds = ' (seconds)';
const host = text('a host name, perhaps with a port', /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i);
const guid = text('a GUID', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
const something = text('text that is not empty', /\S/);
const stream = text('the name of a stream, Custom-…', /^Custom-[A-Za-z0-9_-]+$/);

/** The table. `$stateDirectory` stands for the platform's own place. */
export const options = [
  option(
    'imds.endpoint',
    url('"auto" or an http:// URL, perhaps with a path prefix', ['http:'], { path: true, also: 'auto' }),
    'http://169.254.169.254',
    'Base URL of the Instance Metadata Service. An explicit one also moves the token host. `auto`: link-local, and where that cannot be reached the address of DHCP option 245',
  ),
  option('imds.apiVersion', oneOf(...imdsApiVersions), '2020-07-01', 'Version of the Scheduled Events API'),
  option('imds.pollIntervalSeconds', number(1, 5, seconds), 1, 'Time from one poll to the next'),
  option('imds.timeoutSeconds', number(1, 120, seconds), 10, 'How long an answer may take'),
  option(
    'imds.firstTimeoutSeconds',
    number(1, 600, seconds),
    130,
    'The same while no document was seen for 24 h: the first answer turns the feature on and may take two minutes',
  ),
  option('observer.tags', list('names of tags'), [], 'Tags of the VM to publish in every record'),
  ...observerFields.map((field) =>
    option(`observer.${field}`, something, undefined, `Overrides \`${field}\` of the instance metadata`),
  ),
  option(
    'scope.witnessRate',
    number(0, 1),
    0,
    "Share of the other VMs' events to publish too: a VM that is down cannot report its own failure, its neighbours can",
  ),
  option('stateDirectory', something, '$stateDirectory', 'Where the outbox is kept'),
  option('outbox.maxMegabytes', wholeNumber(16, 65_536), 256, 'The most that the outbox may take on disk'),
  option(
    'identity.clientId',
    guid,
    null,
    'Client id of the user-assigned managed identity. Always set it where a VM has several',
  ),
  option(
    'sinks.eventHubs.fullyQualifiedNamespace',
    host,
    null,
    'Event Hubs namespace, as `x.servicebus.windows.net`. Either this or `connectionString`',
  ),
  option(
    'sinks.eventHubs.connectionString',
    text(
      'Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…',
      /^\s*Endpoint=sb:\/\/[^;]+;.*SharedAccess(Key|Signature)=/i,
    ),
    null,
    'Instead of the namespace, for the emulator and for VMs without managed identity. Only from a file that others cannot read or from a variable',
    { isSecret: always },
  ),
  option(
    'sinks.eventHubs.eventHubName',
    text('the name of an event hub', /^[A-Za-z0-9][\w.-]*$/),
    required,
    'Event hub',
  ),
  option(
    'sinks.eventHubs.customEndpoint',
    url('sb://host:port', ['sb:']),
    null,
    'Address to connect to instead of the namespace, for private routes and the simulator',
  ),
  option('sinks.eventHubs.transport', oneOf('amqp', 'amqp-ws'), 'amqp', '`amqp-ws`: over WebSockets, port 443'),
  option(
    'sinks.eventHubs.idleCloseSeconds',
    number(0, 86_400, seconds),
    60,
    'The connection is closed after that long without a record and without an event under way',
  ),
  option(
    'sinks.eventHubs.connectJitterSeconds',
    number(0, 600, seconds),
    0,
    'The longest that a record which is not urgent may wait for a new connection, so that a fleet does not connect at once',
  ),
  option(
    'sinks.logAnalytics.endpoint',
    url('an https:// URL without a path', ['https:']),
    required,
    'Logs ingestion endpoint of the data collection rule or endpoint',
  ),
  option(
    'sinks.logAnalytics.ruleId',
    text('the immutable id of a data collection rule, dcr- and 32 hex digits', /^dcr-[0-9a-f]{32}$/),
    required,
    'Immutable id of the data collection rule',
  ),
  option('sinks.logAnalytics.streamName', stream, 'Custom-VmLifecycle_CL', 'Stream of the rule'),
  option('sinks.stdout', presence, null, 'One JSON record a line on stdout; logs go to stderr'),
  option('tls.caFile', something, null, 'PEM file of a private or intercepting authority, trusted in addition'),
  option(
    'proxy.url',
    url('http://host:port, perhaps with user:password@ (percent-encoded)', ['http:'], { user: true }),
    required,
    'Proxy for Logs Ingestion and for Event Hubs over WebSockets; never for IMDS and tokens. With a password it is a secret: only from a file that others cannot read or from a variable',
    { isSecret: hasPassword },
  ),
  option('proxy.bypass', list('host names or .suffixes'), [], 'Hosts that are reached directly'),
  option('approve.userInitiated', flag, false, 'Approve reboots and redeploys of this VM that a user asked for'),
  option(
    'approve.freezeUpToSeconds',
    wholeNumber(0, 30, seconds),
    null,
    'Approve freezes of this VM that are to last no longer',
  ),
  option(
    'approve.onBehalfOf',
    list('VM names'),
    [],
    'VMs for which this one approves what a user asked for, when they have not',
  ),
  option('approve.onBehalfAfterSeconds', number(0, 3_600, seconds), 60, 'How long those VMs have first'),
  option('heartbeat.everyMinutes', wholeNumber(0, 1_440), 60, 'Time between two heartbeats; 0 = none'),
  option('heartbeat.streamName', stream, 'Custom-VmLifecycleBridge_CL', 'Stream that they go to'),
  option('heartbeat.eventHubs', flag, false, 'Send them to the event hub too'),
  option('http.port', wholeNumber(0, 65_535), 0, 'Local port for health and metrics; 0 = off'),
  option('log.level', oneOf('debug', 'info', 'warn', 'error'), 'info', 'Minimum log level'),
] as const satisfies readonly Option[];

/** Fails to compile when a key of the configuration has no row above. */
export type OptionMissing = Exclude<Path, (typeof options)[number]['path']>;
export const everyKeyHasARow: [OptionMissing] extends [never] ? true : OptionMissing = true;

export const environmentPrefix = 'SCHEDULED_EVENTS_BRIDGE_';

/** `sinks.eventHubs.eventHubName` -> `SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_EVENT_HUB_NAME`. */
export function environmentName(path: string): string {
  return (
    environmentPrefix +
    path
      .replaceAll('.', '_')
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toUpperCase()
  );
}
