/**
 * The parts of a workbook that the fleet's uses.
 * https://github.com/microsoft/Application-Insights-Workbooks/blob/master/schema/workbook.json
 */
export interface Workbook {
  readonly version: 'Notebook/1.0';
  readonly items: readonly Item[];
  readonly fallbackResourceIds: readonly string[];
  readonly $schema: string;
}

export type Item = (
  | { readonly type: 1; readonly content: { readonly json: string } }
  | { readonly type: 3; readonly content: QueryContent }
  | { readonly type: 9; readonly content: ParametersContent }
  | { readonly type: 11; readonly content: LinksContent }
) & {
  readonly name: string;
  readonly customWidth?: string;
  readonly conditionalVisibility?: Condition;
  readonly conditionalVisibilities?: readonly Condition[];
};

export interface Condition {
  readonly parameterName: string;
  readonly comparison: 'isEqualTo' | 'isNotEqualTo';
  /** Left out: nothing. */
  readonly value?: string;
}

export interface LinksContent {
  readonly version: 'LinkItem/1.0';
  readonly style: 'tabs';
  readonly links: readonly {
    readonly id: string;
    readonly cellValue: string;
    readonly linkTarget: 'parameter';
    readonly linkLabel: string;
    readonly subTarget: string;
    readonly style: 'link';
  }[];
}

export interface ParametersContent {
  readonly version: 'KqlParameterItem/1.0';
  readonly crossComponentResources: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly style: 'pills';
  readonly queryType: number;
  readonly resourceType: string;
}

export interface Parameter {
  readonly id: string;
  readonly version: 'KqlParameterItem/1.0';
  readonly name: string;
  readonly label: string;
  /** 1 text, 2 list, 4 time, 5 resource, 6 subscription. */
  readonly type: 1 | 2 | 4 | 5 | 6;
  readonly isRequired: boolean;
  readonly multiSelect?: boolean;
  readonly quote?: string;
  readonly delimiter?: string;
  readonly query?: string;
  readonly crossComponentResources?: readonly string[];
  readonly value?: unknown;
  readonly defaultValue?: string;
  readonly typeSettings?: Readonly<Record<string, unknown>>;
  readonly queryType?: number;
  readonly resourceType?: string;
}

/** Where a query goes: the workspace, Azure Resource Graph, or the answers of other steps. */
export const queryTypes = { logs: 0, graph: 1, merge: 7 } as const;

export interface QueryContent {
  readonly version: 'KqlItem/1.0';
  readonly query: string;
  readonly size: number;
  readonly title: string;
  readonly noDataMessage: string;
  readonly exportFieldName?: string;
  readonly exportParameterName?: string;
  readonly exportDefaultValue?: string;
  readonly showExportToExcel?: boolean;
  readonly exportToExcelOptions?: 'all';
  readonly queryType: number;
  readonly resourceType?: string;
  readonly crossComponentResources?: readonly string[];
  readonly visualization:
    | 'tiles'
    | 'table'
    | 'barchart'
    | 'categoricalbar'
    | 'unstackedbar'
    | 'linechart'
    | 'areachart'
    | 'piechart';
  readonly tileSettings?: TileSettings;
  readonly gridSettings?: GridSettings;
  readonly chartSettings?: ChartSettings;
}

export interface NumberFormat {
  readonly unit: number;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface Threshold {
  readonly operator: string;
  readonly thresholdValue?: string;
  readonly representation: string;
  readonly text: string;
}

export interface Formatter {
  /** Name of a column, or a regular expression for several, which then share one scale of colours. */
  readonly columnMatch: string;
  readonly formatter: number;
  readonly formatOptions?: {
    readonly thresholdsOptions?: 'icons' | 'colors';
    readonly thresholdsGrid?: readonly Threshold[];
    readonly palette?: string;
    readonly linkTarget?: string;
    readonly linkColumn?: string;
    readonly showIcon?: boolean;
    readonly customColumnWidthSetting?: string;
    readonly compositeBarSettings?: {
      readonly labelText: string;
      readonly columnSettings: readonly { readonly columnName: string; readonly color: string }[];
    };
  };
  readonly numberFormat?: NumberFormat;
  readonly dateFormat?: { readonly formatName: string };
}

export interface TileSettings {
  readonly titleContent: Formatter;
  readonly subtitleContent?: Formatter;
  readonly leftContent?: Formatter;
  readonly secondaryContent?: Formatter;
  readonly showBorder: boolean;
}

export interface GridSettings {
  readonly formatters: readonly Formatter[];
  readonly filter: boolean;
  readonly labelSettings: readonly { readonly columnId: string; readonly label: string }[];
}

export interface ChartSettings {
  readonly xAxis: string;
  readonly yAxis: readonly string[];
  readonly group?: string;
  readonly createOtherGroup?: number;
  readonly showLegend?: boolean;
  readonly seriesLabelSettings?: readonly { readonly seriesName: string; readonly color: string }[];
  readonly ySettings?: { readonly numberFormatSettings: NumberFormat };
}

/** The query of a step that puts two others together. */
export interface Merge {
  readonly version: 'Merge/1.0';
  readonly merges: readonly {
    readonly id: string;
    readonly mergeType: 'leftouter' | 'leftanti';
    readonly leftTable: string;
    readonly rightTable: string;
    readonly leftColumn: string;
    readonly rightColumn: string;
  }[];
  readonly projectRename: readonly {
    readonly originalName: string;
    readonly mergedName: string;
    readonly fromId: string;
  }[];
}

/** https://learn.microsoft.com/azure/azure-monitor/visualize/workbooks-grid-visualizations */
export const formatters = {
  text: 1,
  bar: 4,
  hidden: 5,
  time: 6,
  link: 7,
  heat: 8,
  bigNumber: 12,
  resource: 13,
  thresholds: 18,
  compositeBar: 22,
} as const;
