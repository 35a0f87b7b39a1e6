import type { Destination } from '../../azure/failure.ts';
import { proxyBefore } from '../../azure/proxy.ts';

/** Where records go in Log Analytics: `sinks.logAnalytics` of the configuration. */
export interface LogAnalyticsConfig {
  /** `https://x.ingest.monitor.azure.com`: of the data collection rule itself or of an endpoint it names. */
  readonly endpoint: string;
  /** Immutable id of the data collection rule: `dcr-…`. */
  readonly ruleId: string;
  /** `Custom-VmLifecycle_CL`. */
  readonly streamName: string;
}

/** What failures are said about. */
export function destinationOf({ endpoint, ruleId, streamName }: LogAnalyticsConfig): Destination {
  const proxy = proxyBefore(hostOf(endpoint));
  return {
    name: `the stream ${streamName} of the data collection rule ${ruleId}`,
    host: URL.canParse(endpoint) ? new URL(endpoint).host : endpoint,
    addressKey: 'sinks.logAnalytics.endpoint',
    proxy: proxy?.host ?? null,
    sender: 'the identity of this VM',
    grant: `the role 'Monitoring Metrics Publisher' on the data collection rule ${ruleId} to the identity of this VM`,
    whatToCheck: `sinks.logAnalytics.ruleId (the immutable id of the rule, not its name), sinks.logAnalytics.streamName and that the rule belongs to sinks.logAnalytics.endpoint`,
  };
}

/** Host of an endpoint; the text itself where it is no URL. */
export const hostOf = (endpoint: string): string => (URL.canParse(endpoint) ? new URL(endpoint).hostname : endpoint);
