import type * as v from 'valibot';
import type { Destination } from '../../azure/failure.ts';
import { proxyBefore } from '../../azure/proxy.ts';
import { explainStatus } from '../../azure/status-failure.ts';
import {
  anyCase,
  flag,
  oneOf,
  optionalSection,
  orNull,
  type Rule,
  required,
  text,
  url as urlOf,
  withDefault,
  withSamples,
} from '../../config/schema.ts';
import { thisSystem } from '../../operating-system.ts';
import type { SinkShape } from '../descriptor.ts';
import { statuses } from './statuses.ts';

/** Parameters of a URL that are no secret. Any other may be one: the trigger of a Logic App is opened by its `sig`. */
const publicParameters = ['api-version'];

const hasSecret = (value: unknown): boolean =>
  typeof value === 'string' &&
  [...new URLSearchParams(value.split('?').slice(1).join('?')).keys()].some((name) => !publicParameters.includes(name));

/** An http:// URL of this machine. */
const loopback = String.raw`^${anyCase('http')}://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?([/?]|$)`;
const httpsUrl = `^${anyCase('https')}:`;

const encrypted: Rule = {
  problem: ({ url, allowInsecure }) =>
    typeof url !== 'string' || !/^http:/i.test(url) || new RegExp(loopback).test(url) || allowInsecure === true
      ? null
      : 'sinks.http.url is an http:// URL, over which records and credentials go unencrypted: expected https://, or sinks.http.allowInsecure true.',
  jsonSchema: {
    anyOf: [
      { properties: { url: { pattern: `${httpsUrl}|${loopback}` } } },
      { required: ['allowInsecure'], properties: { allowInsecure: { const: true } } },
    ],
  },
};

const oneCredential: Rule = {
  problem: ({ headerFile, tokenScope }) =>
    headerFile === null || tokenScope === null
      ? null
      : 'sinks.http: expected at most one of headerFile and tokenScope; both are set.',
  jsonSchema: {
    not: {
      required: ['headerFile', 'tokenScope'],
      properties: { headerFile: { type: 'string' }, tokenScope: { type: 'string' } },
    },
  },
};

/** `sinks.http` of the configuration. */
export const httpSection = withSamples(
  optionalSection(
    {
      url: required(
        urlOf('an https:// URL without user and fragment', 'https?', { path: true, query: true }),
        'Webhook, Event Grid topic (`https://…/api/events?api-version=2018-01-01`) or Logic Apps trigger that takes CloudEvents 1.0. With any other query than `api-version` it is a secret: only from a file that others cannot read or from a variable. The bridge cannot recognize a secret in the path, as in many chat webhooks: keep such a URL in such a file, too',
        { isSecret: hasSecret },
      ),
      mode: withDefault(
        'structured',
        oneOf('structured', 'batch'),
        '`structured`: one event per request. `batch`: up to 100 events of any kind as `application/cloudevents-batch+json`',
      ),
      headerFile: orNull(
        text('text that is not empty', /\S/),
        'File with one header as `Name: value` to authenticate with, such as `Authorization: …` or `aeg-sas-key: …`. Read for each request, so that it can be replaced. Refused where others can read it',
      ),
      tokenScope: orNull(
        text('a scope that ends with /.default', /^[a-z][a-z0-9+.-]*:\/\/[^\s]+\/\.default$/),
        'Instead of a header: scope of a token of the managed identity, such as `https://eventgrid.azure.net/.default`',
      ),
      allowInsecure: withDefault(false, flag, 'Allow an http:// URL of another machine'),
    },
    encrypted,
    oneCredential,
  ),
  {
    'managed-identity': {
      url: 'https://NAME.REGION-1.eventgrid.azure.net/api/events?api-version=2018-01-01',
      tokenScope: 'https://eventgrid.azure.net/.default',
    },
    header: { url: 'https://HOST/PATH', headerFile: thisSystem.secretFile('http-header') },
    none: { url: 'https://HOST/PATH' },
  },
);

/** Where records go by HTTP. `url` may be a secret: only its host is in logs, errors and status. */
export type HttpConfig = Readonly<NonNullable<v.InferOutput<typeof httpSection>>>;

/**
 * An Event Grid topic takes 1 MB at once, and bills each 64 KB of an event as one operation.
 * https://learn.microsoft.com/azure/event-grid/event-schema#event-properties
 */
export const maxRequestBytes = 1_000_000;
/** The attributes around the JSON of a record take less. */
const envelopeBytes = 2_000;
const batchRecords = 100;

/** In batch mode events may mix, and order is kept by one request at a time; else one event waits for its own only. */
export const httpShape = ({ mode }: Pick<HttpConfig, 'mode'>): SinkShape =>
  mode === 'batch'
    ? {
        name: 'http',
        batchBy: 'any',
        inFlight: 1,
        limits: { records: batchRecords, bytes: maxRequestBytes - batchRecords * envelopeBytes },
      }
    : { name: 'http', batchBy: 'event', inFlight: 8, limits: { records: 1, bytes: maxRequestBytes - envelopeBytes } };

/** What failures are said about. Names no secret. */
export function destinationOf({ url, headerFile, tokenScope }: HttpConfig): Destination {
  const { host, hostname } = URL.parse(url) ?? { host: 'the HTTP endpoint', hostname: '' };
  const byIdentity = tokenScope !== null;
  return {
    name: `the HTTP endpoint ${host}`,
    host,
    addressKey: 'sinks.http.url',
    proxy: proxyBefore(hostname)?.host ?? null,
    sender: byIdentity
      ? 'the identity of this VM'
      : headerFile === null
        ? 'a request without a credential'
        : 'the header in sinks.http.headerFile',
    grant: byIdentity
      ? "the role that allows to send to the identity of this VM, for an Event Grid topic 'EventGrid Data Sender' (takes effect within 30 min)"
      : headerFile === null
        ? 'this VM access without a credential, or set sinks.http.headerFile or sinks.http.tokenScope'
        : 'access to the key or token in sinks.http.headerFile, or put a valid one there',
    whatToCheck: 'sinks.http.url, with its path and query',
    explain: explainStatus(statuses),
  };
}
