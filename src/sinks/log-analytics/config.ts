import type * as v from 'valibot';
import type { Destination } from '../../azure/failure.ts';
import { proxyBefore } from '../../azure/proxy.ts';
import { explainStatus } from '../../azure/status-failure.ts';
import {
  anyCase,
  lowerCase,
  optionalSection,
  required,
  text,
  url,
  withDefault,
  withSamples,
} from '../../config/schema.ts';
import { statuses } from './statuses.ts';

/** `sinks.logAnalytics` of the configuration. */
export const logAnalyticsSection = withSamples(
  optionalSection({
    endpoint: required(
      url('an https:// URL without a path', 'https'),
      'Logs ingestion endpoint of the data collection rule or endpoint',
    ),
    ruleId: required(
      lowerCase(
        text(
          'the immutable id of a data collection rule, dcr- and 32 hex digits',
          new RegExp(`^${anyCase('dcr')}-[0-9A-Fa-f]{32}$`),
        ),
      ),
      'Immutable id of the data collection rule',
    ),
    streamName: withDefault(
      'Custom-VmLifecycle_CL',
      text('the name of a stream, Custom-…', /^Custom-[A-Za-z0-9_-]+$/),
      'Stream of the rule',
    ),
  }),
  {
    'managed-identity': {
      endpoint: 'https://NAME.REGION-1.ingest.monitor.azure.com',
      ruleId: 'dcr-ffffffffffffffffffffffffffffffff',
    },
  },
);

/** Where records go in Log Analytics. */
export type LogAnalyticsConfig = Readonly<NonNullable<v.InferOutput<typeof logAnalyticsSection>>>;

// assumption: logs-request-size
/**
 * A call takes 1 MB, compressed and uncompressed; above some unknown point it is not refused but broken off. The SDK cuts
 * at 1,000,000 bytes without counting commas: below that it sends what it is given as one request.
 * https://learn.microsoft.com/azure/azure-monitor/fundamentals/service-limits#logs-ingestion-api
 */
export const mostBytes = 900_000;
export const mostRows = 1000;
/** A row is its record's JSON plus `TimeGenerated`, a longer column name and a comma: less than this. */
const rowOverheadBytes = 50;

export const logAnalyticsShape = {
  name: 'log-analytics',
  batchBy: 'any',
  inFlight: 1,
  limits: { records: mostRows, bytes: mostBytes - mostRows * rowOverheadBytes },
} as const;

/** What failures are said about. */
export function destinationOf({ endpoint, ruleId, streamName }: LogAnalyticsConfig): Destination {
  const proxy = proxyBefore(hostOf(endpoint));
  return {
    name: `the stream ${streamName} of the data collection rule ${ruleId}`,
    host: URL.canParse(endpoint) ? new URL(endpoint).host : endpoint,
    addressKey: 'sinks.logAnalytics.endpoint',
    proxy: proxy?.host ?? null,
    sender: 'the identity of this VM',
    grant: `the role 'Monitoring Metrics Publisher' on the data collection rule ${ruleId} to the identity of this VM (takes effect within 30 min)`,
    whatToCheck: `sinks.logAnalytics.ruleId (the immutable id of the rule, not its name), sinks.logAnalytics.streamName and that the rule belongs to sinks.logAnalytics.endpoint`,
    explain: explainStatus(statuses),
  };
}

/** Host of an endpoint; the text itself where it is no URL. */
export const hostOf = (endpoint: string): string => (URL.canParse(endpoint) ? new URL(endpoint).hostname : endpoint);
