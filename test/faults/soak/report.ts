import { faultsOf } from '../verdict.ts';
import type { SoakReport } from './soak.ts';

/** The report for a terminal: what happened, what grew, the verdict. */
export function reportText({ outcome, samples, holdings, ...report }: SoakReport): string {
  const [first, last] = [samples[0], samples.at(-1)];
  const most = (of: (sample: SoakReport['samples'][number]) => number): number => Math.max(...samples.map(of));
  const course = (name: string, of: (sample: SoakReport['samples'][number]) => number, unit = ''): string =>
    `${name.padEnd(20)} ${first ? of(first).toFixed(1) : '-'} at first, ${last ? of(last).toFixed(1) : '-'} at last, at most ${most(of).toFixed(1)}${unit}`;
  const faults = faultsOf(outcome);
  return `${[
    `${report.hours.toFixed(2)} h, ${report.events} events with ${report.steps} steps, ${report.polls} polls, ${Object.values(report.faults).reduce((sum, count) => sum + count, 0)} faults of ${Object.keys(report.faults).length} kinds`,
    `${outcome.lost} lost, ${outcome.duplicated.found} duplicates, ${outcome.conservation.violations} of ${outcome.conservation.samples} samples of the counters did not add up`,
    '',
    course('resident', ({ residentMb }) => residentMb, ' MB'),
    course('anonymous', ({ anonymousMb }) => anonymousMb, ' MB'),
    course('descriptors', ({ descriptors }) => descriptors),
    course('processes', ({ processes }) => processes),
    course('state directory', ({ stateMb }) => stateMb, ' MB'),
    `${'resident grows by'.padEnd(20)} ${report.residentMbPerHour.toFixed(2)} MB an hour in the second half`,
    `${'processor'.padEnd(20)} ${((last?.cpuMs ?? 0) / Math.max(1, report.polls)).toFixed(2)} ms a poll`,
    '',
    'after a garbage collection, for the bridge and each sender:',
    ...everyNth(holdings, 12).map(({ hours, processes }) => {
      const held = processes.map(({ heapMb, listeners, resources }) => {
        const open = Object.entries(resources).map(([kind, count]) => `${count} ${kind}`);
        return `${heapMb.toFixed(1)} MB, ${listeners} listeners, ${open.join(' ')}`;
      });
      return `  ${(hours * 60).toFixed(0).padStart(4)} min  ${held.join(' | ')}`;
    }),
    '',
    faults.length === 0 ? 'ok' : `failed: ${faults.join('; ')}`,
  ].join('\n')}\n`;
}

/** At most this many, evenly spread, with the last one. */
const everyNth = <T>(all: readonly T[], count: number): readonly T[] =>
  all.filter((_, index) => (all.length - 1 - index) % Math.ceil(all.length / count) === 0);
