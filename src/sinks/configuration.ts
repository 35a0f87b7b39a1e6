/** The sections of all sinks. Declarations only: this loads no library of a sink. */

import { eventHubsSection } from './event-hubs/config.ts';
import { logAnalyticsSection } from './log-analytics/config.ts';
import { stdoutSection } from './stdout/config.ts';

/** By key of the configuration, below `sinks`. */
export const sinkSections = {
  eventHubs: eventHubsSection,
  logAnalytics: logAnalyticsSection,
  stdout: stdoutSection,
};
