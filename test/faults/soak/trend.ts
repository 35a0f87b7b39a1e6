/** A figure at a moment. */
export interface Sample {
  readonly hours: number;
  readonly value: number;
}

/** By how much the figure rises in an hour: the slope of the line with the least squares. NaN for fewer than two moments. */
export function slopePerHour(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [hours, value] = [mean((one) => one.hours), mean((one) => one.value)];
  const variance = samples.reduce((sum, one) => sum + (one.hours - hours) ** 2, 0);
  if (variance === 0) return Number.NaN;
  return samples.reduce((sum, one) => sum + (one.hours - hours) * (one.value - value), 0) / variance;
}
