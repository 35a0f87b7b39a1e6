import type { SinkDescriptor } from '../descriptor.ts';
import { monitorScope } from './clouds.ts';
import { destinationOf, hostOf, type LogAnalyticsConfig, logAnalyticsSection, logAnalyticsShape } from './config.ts';
import { logAnalyticsFindings } from './findings.ts';

export const logAnalytics: SinkDescriptor<'logAnalytics', LogAnalyticsConfig> = {
  key: 'logAnalytics',
  name: logAnalyticsShape.name,
  section: logAnalyticsSection,
  label: 'Log Analytics',
  shape: () => logAnalyticsShape,
  isIsolated: true,
  destination: (config) => destinationOf(config).name,
  // Shipped functions and alerts leave out tests: only the table itself shows this one.
  find: ({ recordId }) =>
    `after some minutes, in the table only (functions and alerts leave out tests): VmLifecycle_CL | where RecordId == "${recordId}"`,
  tokenScopes: ({ endpoint }) => [monitorScope(hostOf(endpoint))],
  async open(config, options) {
    const { createLogAnalyticsSink } = await import('./sink.ts');
    return createLogAnalyticsSink({ config, ...options });
  },
  heartbeat({ streamName: _records, ...rule }, { streamName }) {
    const config = { ...rule, streamName };
    return {
      name: destinationOf(config).name,
      open: async (options) => (await import('./heartbeat.ts')).createTableSender({ config, ...options }),
    };
  },
  check: {
    needsNetwork: true,
    findings: logAnalyticsFindings,
    exit: { code: 13, meaning: 'Log Analytics cannot be reached, or refuses requests' },
    run: async (config, context) => (await import('./check.ts')).checkLogAnalytics(config, context),
  },
};
