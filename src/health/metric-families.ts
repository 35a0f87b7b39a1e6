import type { MetricFamily } from './metric-family.ts';
import { pollMetrics } from './poll-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { senderMetrics } from './sender-metrics.ts';
import { sinkMetrics } from './sink-metrics.ts';
import { storeMetrics } from './store-metrics.ts';

/** All but the one histogram, which is in `deliveryLatency`; in the order of the output. */
export const metricFamilies: readonly MetricFamily[] = [
  ...pollMetrics,
  ...sinkMetrics,
  ...senderMetrics,
  ...storeMetrics,
  ...processMetrics,
];
