/**
 * The configuration, every option once: its key, meaning, default and what is accepted. Types, environment variables, the README's
 * table and the JSON Schema are made from it. `config/read-config.ts` reads files and variables.
 */

import type * as v from 'valibot';
import { declaredIn } from './config/options.ts';
import {
  flag,
  list,
  number,
  oneOf,
  optionalSection,
  orAbsent,
  orNull,
  type Rule,
  required,
  section,
  text,
  url,
  wholeNumber,
  withDefault,
} from './config/schema.ts';
import { sinkSections } from './sinks/registry.ts';

/** Fields of the observer VM that can be overridden, by the record's names. */
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

// assumption: imds-fields
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

const seconds = ' (seconds)';
const guid = text('a GUID', /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/);
const nonEmpty = text('text that is not empty', /\S/);
const absolutePath = text('an absolute path', /^([/\\]|[A-Za-z]:[\\/])/);

const override = (field: string) => orAbsent(nonEmpty, `Overrides \`${field}\` of the instance metadata`);
const overrides = Object.fromEntries(observerFields.map((field) => [field, override(field)])) as Record<
  ObserverField,
  ReturnType<typeof override>
>;

/** Also true for text that is not a URL because of the characters in the password. */
const hasPassword = (value: unknown): boolean =>
  typeof value === 'string' && /^([a-z]+:\/\/)?[^:]*:(?!\/\/).*@/is.test(value);

const sinkKeys = Object.keys(sinkSections);
const sinkPaths = sinkKeys.map((key) => `sinks.${key}`);
const oneSink: Rule = {
  problem: (sinks) =>
    Object.values(sinks).some((sink) => sink !== null)
      ? null
      : `There is no sink: expected at least one of ${sinkPaths.slice(0, -1).join(', ')} and ${sinkPaths.at(-1)}.`,
  jsonSchema: {
    anyOf: sinkKeys.map((key) => ({ required: [key], properties: { [key]: { not: { enum: [null, false] } } } })),
  },
};

export const schema = section({
  imds: section({
    endpoint: withDefault(
      'http://169.254.169.254',
      url('"auto" or an http:// URL, optionally with a path prefix', 'http', { path: true, also: 'auto' }),
      'Base URL of the Instance Metadata Service. Setting it also redirects token requests. `auto`: the link-local address, or, if unreachable, the address of DHCP option 245 (on Linux)',
    ),
    apiVersion: withDefault('2020-07-01', oneOf(...imdsApiVersions), 'Version of the Scheduled Events API'),
    pollIntervalSeconds: withDefault(1, number(1, 5, seconds), 'Time between two polls'),
    timeoutSeconds: withDefault(10, number(1, 120, seconds), 'Time limit of one request'),
    // assumption: imds-first-request
    firstTimeoutSeconds: withDefault(
      130,
      number(1, 600, seconds),
      'Time limit of a request when none has succeeded in 24 h: the first request enables the feature and may take two minutes',
    ),
  }),
  observer: section({
    tags: withDefault([], list('names of tags'), 'Tags of the VM to publish in every record'),
    ...overrides,
  }),
  scope: section({
    witnessRate: withDefault(
      0,
      number(0, 1),
      "Share of the other VMs' events to publish too: a VM that is down cannot report its own failure, other VMs can",
    ),
  }),
  stateDirectory: withDefault(
    '/var/lib/scheduled-events-bridge',
    absolutePath,
    'Directory of the outbox. The packaged service accepts only its default; to use another disk, mount it there. Set it for containers and runs without installation. Default on Windows: `%ProgramData%\\scheduled-events-bridge\\state`',
  ),
  outbox: section({
    maxMegabytes: withDefault(256, wholeNumber(16, 65_536), 'Maximum size of the outbox on disk'),
  }),
  identity: section({
    clientId: orNull(guid, 'Client id of the user-assigned managed identity. Always set it where a VM has several'),
  }),
  sinks: section(sinkSections, oneSink),
  tls: section({
    caFile: orNull(
      nonEmpty,
      'PEM file of a private or intercepting certificate authority, trusted in addition. The certificate store of Windows is not read',
    ),
  }),
  proxy: optionalSection({
    url: required(
      url('http://host:port, optionally with user:password@ (percent-encoded)', 'http', { user: true }),
      'Proxy for Logs Ingestion and for Event Hubs over WebSockets; never for IMDS and tokens. The proxy settings of Windows are not read. With a password it is a secret: accepted only from a file that others cannot read, or from an environment variable',
      { isSecret: hasPassword },
    ),
    bypass: withDefault([], list('host names or .suffixes'), 'Hosts to connect to directly'),
  }),
  approve: section({
    userInitiated: withDefault(
      false,
      flag,
      'Approve reboots and redeploys that a user requested, if the event names this VM first',
    ),
    freezeUpToSeconds: orNull(
      wholeNumber(0, 30, seconds),
      'Approve freezes that are announced to last at most this long, if the event names this VM first',
    ),
    onBehalfOf: withDefault(
      [],
      list('VM names'),
      'VMs for which this one approves user-requested events when they have not done so themselves',
    ),
    onBehalfAfterSeconds: withDefault(60, number(0, 3_600, seconds), 'How long to wait for those VMs first'),
  }),
  heartbeat: section({
    everyMinutes: withDefault(60, wholeNumber(0, 1_440), 'Time between two heartbeats; 0 = none'),
    streamName: withDefault(
      'Custom-VmLifecycleBridge_CL',
      text('the name of a stream, Custom-…', /^Custom-[A-Za-z0-9_-]+$/),
      'Stream of the data collection rule for heartbeats',
    ),
    eventHubs: withDefault(false, flag, 'Send heartbeats to the event hub too'),
  }),
  http: section({ port: withDefault(0, wholeNumber(0, 65_535), 'Local port for health and metrics; 0 = off') }),
  log: section({ level: withDefault('info', oneOf('debug', 'info', 'warn', 'error'), 'Minimum log level') }),
});

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly Item[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** With defaults. What is optional and not set is null. Seconds and megabytes as named. */
export type Config = DeepReadonly<v.InferOutput<typeof schema>>;

export const { options, sections } = declaredIn(schema);
