/** What the dashboards of the fleet show, defined once for the workbook and for Grafana. */

/** What a click on a row chooses. */
export type Choice = 'EventId' | 'UpcomingEventId' | 'Wave' | 'ResourceGroupId';

/** How a dashboard writes in KQL what its user has chosen. */
export interface Words {
  /** Beginning of the chosen time, a datetime. */
  readonly start: string;
  /** Condition: the column is in the chosen time. */
  within(column: string): string;
  /** Conditions on what was chosen, of those filters that a dashboard has. */
  chosen(filters: readonly Filter[]): readonly string[];
  /** Text literal: what a click chose. */
  clicked(choice: Choice): string;
}

/** What can be chosen, with the column of KQL that it is compared with. */
export interface Filter {
  readonly name: 'Subscription' | 'Location' | 'VmScaleSet' | 'EventType' | 'VmName';
  readonly column: string;
}

/** Those whose values a dashboard finds in the records, in the order in which it offers them. */
export const foundFilters: readonly (Filter & { readonly label: string })[] = [
  { name: 'EventType', column: 'EventType', label: 'Events' },
  { name: 'Location', column: 'Location', label: 'Regions' },
  { name: 'VmScaleSet', column: 'VmScaleSetName', label: 'Scale sets' },
];

/** Text that the name of a VM contains; empty for all. */
export const textFilter = { name: 'VmName', column: 'VmName', label: 'VM name contains' } as const;

export const eventFilters: readonly Filter[] = [
  ...foundFilters,
  { name: 'Subscription', column: 'SubscriptionId' },
  textFilter,
];

/** The values of a column since `start`, a datetime of KQL. */
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

/** A part of a bar, with the column that holds its length. */
export interface Part {
  readonly column: string;
  /** A name of `colours`. */
  readonly meaning: string;
}

/** A column of a table. Columns that are not named are shown as they are, under their own names. */
export interface ColumnStyle {
  readonly column: string;
  /** Further columns that look the same and share one scale of colours. */
  readonly andColumns?: readonly string[];
  readonly label?: string;
  readonly unit?: Unit;
  /** A number as the length of a bar, or as the depth of a colour; a text in the colour of the type of event in it. */
  readonly as?: 'bar' | 'heat' | 'time' | 'resource' | 'event type' | 'hidden';
  /** One bar of several parts, which are as long as the page is wide where their sum is the same in every row. */
  readonly parts?: readonly Part[];
  /** A sign before the text, by the text of the cell; any other text has none. */
  readonly signs?: Readonly<Record<string, Urgency>>;
}

export interface TileText {
  readonly name: string;
  readonly meaning: string;
  /** How urgent it is that the number is not 0. */
  readonly ifAny: Urgency;
}

export type Show =
  | {
      readonly as: 'tiles';
      readonly title: string;
      readonly value: string;
      readonly meaning: string;
      /** Column with an urgency, or nothing. */
      readonly urgency: string;
      /** The tiles that the query gives. */
      readonly tiles: readonly TileText[];
    }
  | {
      readonly as: 'bars' | 'lines' | 'area';
      readonly x: string;
      readonly isTime: boolean;
      readonly y: readonly string[];
      readonly group?: string;
      readonly unit?: Unit;
      /** Names in the legend that have a fixed colour. */
      readonly names?: readonly string[];
    }
  | { readonly as: 'pie'; readonly x: string; readonly y: readonly [string]; readonly names: readonly string[] }
  | {
      readonly as: 'table';
      readonly styles: readonly ColumnStyle[];
      readonly chooses?: Chooses;
      /** States of a lane over time, where a dashboard can draw them: text by number. The query is `overTime`. */
      readonly lanes?: Readonly<Record<number, string>>;
    };

/** A click on a row chooses the value of a column. */
export interface Chooses {
  readonly column: string;
  readonly as: Choice;
  /** What is chosen before anything was clicked. Default: nothing. */
  readonly first?: string;
  /** Column that is clicked where only cells can be. Default: the column itself. */
  readonly clickOn?: string;
  /** Panel that shows what was chosen. */
  readonly shownBy: string;
  /** Columns with the beginning and end of what was chosen, in milliseconds since 1970, to which the time of a dashboard is set. */
  readonly zoom?: { readonly from: string; readonly to: string };
}

/** A question to the workspace, or to Azure Resource Graph. */
export interface Asked {
  readonly of: 'workspace' | 'resource graph';
  readonly query: (words: Words) => string;
  /** The same as states over time, for `lanes`: a time, a lane, a number. */
  readonly overTime?: (words: Words) => string;
}

/** The answers of two other panels of the same tab joined on the column `on` of both. */
export interface Merged {
  readonly of: 'panels';
  readonly left: string;
  readonly right: string;
  readonly on: string;
  /** All rows of the left panel with their match in the right one, or those without a match. */
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
  /** Shown only when this is chosen. */
  readonly needs?: Choice;
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
