/** Where the queries of panels begin. */
import { eventFilters, vmFilters, type Words } from '../panel.ts';

/** Each condition as a line of a pipe. */
export const where = (conditions: readonly string[]): string[] => conditions.map((condition) => `| where ${condition}`);

/** The events that were first seen in the chosen time, a row for each VM. */
export const eventsInTime = (words: Words): string[] => [
  `VmEventTimeline(now() - ${words.start})`,
  ...where([words.within('FirstSeenAt'), ...words.chosen(eventFilters)]),
];

/** What is announced or in progress, whatever time was chosen. */
export const openEvents = (words: Words): string[] => [
  'VmEventTimeline()',
  ...where(['IsOpen', ...words.chosen(eventFilters)]),
];

/** The bridges of the chosen VMs, also those that have been silent for two weeks. */
export const bridges = (words: Words): string[] => ['VmBridgeCoverage()', ...where(words.chosen(vmFilters))];

/** The present VMs: those with a report in the last day, which reads a fourteenth of the heartbeats. */
export const fleet = (words: Words): string[] => ['VmBridgeCoverage(1d)', ...where(words.chosen(vmFilters))];

/** Indented lines, as the KQL formatter requires in brackets. */
export const indented = (lines: readonly string[]): string[] => lines.map((line) => `    ${line}`);

/** As `materialize (…)` after a `let`. */
export const kept = (lines: readonly string[]): string[] => ['materialize (', ...indented(lines), '    );'];
