import { noiseFloorMs } from '../../host/pauses.ts';

/** `1 record`, `2 records`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** `1.45 s`, `12.3 s`. */
export const seconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} s`;

/** Whether a measured pause is one: below, it tells of a busy machine. */
export const wasFelt = (pauseMs: number | null): pauseMs is number => pauseMs !== null && pauseMs >= noiseFloorMs;
