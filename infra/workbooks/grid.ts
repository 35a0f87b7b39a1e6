import { colours, eventTypes } from './colours.ts';
import type { ColumnStyle, Part, Show, Unit, Urgency } from './panel.ts';
import {
  type Formatter,
  formatters,
  type GridSettings,
  type NumberFormat,
  type TileSettings,
} from './workbook-json.ts';

/** How the cells of a table and the tiles of a workbook look. */

const numberUnits: Readonly<Record<Unit, number>> = { ms: 23, s: 24 };
const plainNumber = 17;

/** How a number in a unit is written. */
export const numberFormat = (unit: Unit | undefined): NumberFormat => ({
  unit: unit === undefined ? plainNumber : numberUnits[unit],
  options: { style: 'decimal', maximumFractionDigits: 1 },
});

const icons: Readonly<Record<Urgency, string>> = { act: '4', watch: '2', fine: 'success' };

const signed = (column: string, signs: Readonly<Record<string, Urgency>>): Formatter => ({
  columnMatch: column,
  formatter: formatters.thresholds,
  formatOptions: {
    thresholdsOptions: 'icons',
    thresholdsGrid: [
      ...Object.entries(signs).map(([text, urgency]) => ({
        operator: '==',
        thresholdValue: text,
        representation: icons[urgency],
        text: '{0}{1}',
      })),
      { operator: 'Default', representation: 'Blank', text: '{0}{1}' },
    ],
  },
});

/** One tile for each row. */
export const tiles = ({ title, value, meaning, urgency }: Extract<Show, { as: 'tiles' }>): TileSettings => ({
  titleContent: { columnMatch: title, formatter: formatters.text },
  subtitleContent: { columnMatch: meaning, formatter: formatters.text },
  leftContent: { columnMatch: value, formatter: formatters.bigNumber, numberFormat: numberFormat(undefined) },
  secondaryContent: signed(urgency, { act: 'act', watch: 'watch', fine: 'fine' }),
  showBorder: true,
});

/** A table with the styles of its columns. */
export const grid = (styles: readonly ColumnStyle[]): GridSettings => ({
  formatters: styles.flatMap(formatter),
  filter: true,
  labelSettings: styles.flatMap(({ column, label }) => (label === undefined ? [] : [{ columnId: column, label }])),
});

const eventTypeColours = eventTypes.map((type) => ({
  operator: 'contains',
  thresholdValue: type,
  representation: colours[type]?.workbook ?? 'gray',
  text: '{0}{1}',
}));

const composite = (column: string, parts: readonly Part[]): Formatter => ({
  columnMatch: column,
  formatter: formatters.compositeBar,
  formatOptions: {
    customColumnWidthSetting: '50%',
    compositeBarSettings: {
      labelText: '',
      columnSettings: parts.map(({ column: columnName, meaning }) => ({
        columnName,
        color: colours[meaning]?.workbook ?? 'gray',
      })),
    },
  },
});

function formatter({ column: first, andColumns, unit, as, signs, parts }: ColumnStyle): Formatter[] {
  const column = andColumns === undefined ? first : `^(${[first, ...andColumns].join('|')})$`;
  if (signs) return [signed(column, signs)];
  if (parts) return [composite(column, parts)];
  switch (as) {
    case 'hidden':
      return [{ columnMatch: column, formatter: formatters.hidden }];
    case 'event type':
      return [
        {
          columnMatch: column,
          formatter: formatters.thresholds,
          formatOptions: {
            thresholdsOptions: 'colors',
            thresholdsGrid: [...eventTypeColours, { operator: 'Default', representation: '', text: '{0}{1}' }],
          },
        },
      ];
    case 'time':
      return [{ columnMatch: column, formatter: formatters.time, dateFormat: { formatName: 'shortDateTimePattern' } }];
    case 'resource':
      return [
        {
          columnMatch: column,
          formatter: formatters.resource,
          formatOptions: { linkTarget: 'Resource', showIcon: true },
        },
      ];
    case 'bar':
      return [{ columnMatch: column, formatter: formatters.bar, formatOptions: { palette: 'blue' } }];
    case 'heat':
      return [{ columnMatch: column, formatter: formatters.heat, formatOptions: { palette: 'orange' } }];
    default:
      return unit === undefined
        ? []
        : [{ columnMatch: column, formatter: formatters.text, numberFormat: numberFormat(unit) }];
  }
}
