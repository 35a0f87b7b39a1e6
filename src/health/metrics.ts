import { metricFamilies } from './metric-families.ts';
import type { MetricFamily, Readings } from './metric-family.ts';
import type { OnDelivered } from './send-counts.ts';
import { deliveryLatency } from './sink-metrics.ts';

/** The metrics of one bridge, in its own registry. */
export interface Metrics {
  readonly contentType: string;
  /** As Prometheus reads it. */
  text(): Promise<string>;
  readonly delivered: OnDelivered;
}

/**
 * Loads prom-client, which takes 4 MB: call it only if metrics are served. Every value but those of the histogram is read when the
 * metrics are requested.
 */
export async function createMetrics(read: () => Readings): Promise<Metrics> {
  const [{ default: Registry }, { default: Gauge }, { default: Counter }, { default: Histogram }] = await Promise.all([
    import('prom-client/lib/registry.js'),
    import('prom-client/lib/gauge.js'),
    import('prom-client/lib/counter.js'),
    import('prom-client/lib/histogram.js'),
  ]);
  const registry = new Registry();
  const registers = [registry];
  const fillers = metricFamilies.map((family) => {
    const { name, help, labels, kind } = family;
    const options = { name, help, labelNames: [...labels], registers };
    return kind === 'gauge' ? fillGauge(new Gauge(options), family) : fillCounter(new Counter(options), family);
  });
  const { name, help, labels, buckets } = deliveryLatency;
  const latency = new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers });
  return {
    contentType: registry.contentType,
    async text() {
      const readings = read();
      for (const fill of fillers) fill(readings);
      return await registry.metrics();
    },
    delivered: (sink, seconds) => latency.observe({ sink }, seconds),
  };
}

type Fill = (readings: Readings) => void;

function fillGauge(
  gauge: { reset(): void; remove(): void; set(labels: Record<string, string>, value: number): void },
  family: MetricFamily,
): Fill {
  return (readings) => {
    const samples = family.read(readings);
    gauge.reset();
    // An unknown value is left out: 0 would be a value.
    if (samples.length === 0 && family.labels.length === 0) gauge.remove();
    for (const { labels, value } of samples) gauge.set({ ...labels }, value);
  };
}

/** The sum is kept elsewhere, and survives a restart there. */
function fillCounter(
  counter: { reset(): void; inc(labels: Record<string, string>, value: number): void },
  family: MetricFamily,
): Fill {
  return (readings) => {
    counter.reset();
    for (const { labels, value } of family.read(readings)) counter.inc({ ...labels }, value);
  };
}
