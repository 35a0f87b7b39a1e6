/** What the dashboards of the fleet show, said once for the workbook and for Grafana. */

/** How a dashboard writes in KQL what its user has chosen. */
export interface Words {
  /** Beginning of the chosen time, a datetime. */
  readonly start: string;
  /** Condition: the column is in the chosen time. */
  within(column: string): string;
  /** Conditions on what was chosen, of those filters that a dashboard has. */
  chosen(filters: readonly Filter[]): readonly string[];
  /** Text literal: the id of the chosen event. */
  readonly event: string;
}

/** What can be chosen, with the column of KQL that it is compared with. */
export interface Filter {
  readonly name: 'Subscription' | 'Location' | 'VmScaleSet' | 'EventType';
  readonly column: string;
}

/** Those whose values a dashboard finds in the records, in the order in which it offers them. */
export const foundFilters: readonly (Filter & { readonly label: string })[] = [
  { name: 'EventType', column: 'EventType', label: 'Events' },
  { name: 'Location', column: 'Location', label: 'Regions' },
  { name: 'VmScaleSet', column: 'VmScaleSetName', label: 'Scale sets' },
];

export const eventFilters: readonly Filter[] = [...foundFilters, { name: 'Subscription', column: 'SubscriptionId' }];

/** The values of a column that there were since `start`, a datetime of KQL. */
export const valuesOf = ({ column }: Pick<Filter, 'column'>, start: Words['start']): readonly string[] => [
  `VmLifecycleRecords(now() - ${start})`,
  `| where isnotempty(${column})`,
  `| distinct ${column}`,
  `| order by ${column} asc`,
];

export const vmFilters: readonly Filter[] = eventFilters.filter(({ name }) => name !== 'EventType');

/** Units of a number: `s` and `ms` are shown as durations. */
export type Unit = 's' | 'ms';

/** How urgent a cell is. */
export type Urgency = 'act' | 'watch' | 'fine';

/** A column of a table. Columns that are not named are shown as they are, under their own names. */
export interface Look {
  readonly column: string;
  readonly label?: string;
  readonly unit?: Unit;
  /** A number as the length of a bar, or as the depth of a colour. */
  readonly as?: 'bar' | 'heat' | 'time' | 'resource';
  /** A sign before the text, by the text of the cell; any other text has none. */
  readonly signs?: Readonly<Record<string, Urgency>>;
}

export type Show =
  | {
      readonly as: 'tiles';
      readonly title: string;
      readonly value: string;
      readonly meaning: string;
      /** Column with an urgency, or nothing. */
      readonly urgency: string;
    }
  | {
      readonly as: 'bars' | 'lines';
      readonly x: string;
      readonly isTime: boolean;
      readonly y: readonly string[];
      readonly group?: string;
      readonly unit?: Unit;
    }
  | { readonly as: 'pie'; readonly x: string; readonly y: readonly [string] }
  | {
      readonly as: 'table';
      readonly looks: readonly Look[];
      /** Column whose value becomes the chosen event when a row is clicked. */
      readonly chooses?: string;
    };

/** A question to the workspace, or to Azure Resource Graph. */
export interface Asked {
  readonly of: 'workspace' | 'resource graph';
  readonly query: (words: Words) => string;
}

/** The answers of two other panels of the same tab put together, by the column `on` of both. */
export interface Merged {
  readonly of: 'panels';
  readonly left: string;
  readonly right: string;
  readonly on: string;
  /** All rows of the left panel with what the right one knows of them, or those that the right one does not know. */
  readonly keep: 'left' | 'left without right';
  /** A column of each that is never empty. */
  readonly always: { readonly left: string; readonly right: string };
  /** Columns of both panels that are shown, with the panel that they are of. */
  readonly columns: readonly { readonly from: 'left' | 'right'; readonly column: string }[];
}

export interface Panel {
  /** Unique, in kebab case. */
  readonly name: string;
  /** The question that the panel answers. */
  readonly title: string;
  /** What it says when there is no row. */
  readonly empty: string;
  /** Per cent of the page. */
  readonly width?: 33 | 50 | 67 | 100;
  readonly source: Asked | Merged;
  readonly show: Show;
  /** Shown only when an event is chosen. */
  readonly needsEvent?: boolean;
}

export interface Tab {
  readonly name: string;
  readonly panels: readonly Panel[];
}

/** A query of the workspace from the lines of its pipe. */
export const asked = (query: (words: Words) => readonly string[]): Asked => ({
  of: 'workspace',
  query: (words) => query(words).join('\n'),
});

export const askedOfGraph = (query: (words: Words) => readonly string[]): Asked => ({
  of: 'resource graph',
  query: (words) => query(words).join('\n'),
});

const where = (conditions: readonly string[]): string[] => conditions.map((condition) => `| where ${condition}`);

/** What every event meant for every VM, of the events that came in sight in the chosen time. */
export const eventsInTime = (words: Words): string[] => [
  `VmEventTimeline(now() - ${words.start})`,
  ...where([words.within('FirstSeenAt'), ...words.chosen(eventFilters)]),
];

/** What is announced or in progress, whatever time was chosen. */
export const openEvents = (words: Words): string[] => [
  'VmEventTimeline()',
  ...where(['IsOpen', ...words.chosen(eventFilters)]),
];

/** The bridges of the chosen VMs, as they are now. */
export const bridges = (words: Words): string[] => ['VmBridgeCoverage()', ...where(words.chosen(vmFilters))];

/** As `materialize (…)` after a `let`. */
export const kept = (lines: readonly string[]): string[] => [
  'materialize (',
  ...lines.map((line) => `    ${line}`),
  '    );',
];
