import type { Cell } from '../../../test/tools/kql/index.ts';
import { type Formatter, formatters, type GridSettings, type TileSettings } from '../workbook-json.ts';
import type { Answer } from './answer.ts';
import { escaped, momentText, numberText } from './figures.ts';
import { hexOf } from './palette.ts';

/** Rows that are drawn: of lanes more, since together they are one picture. */
const mostRows = { table: 12, lanes: 40 } as const;

/** Rows as an HTML table, formatted as the settings say. */
export function drawTable({ formatters: given, labelSettings }: GridSettings, { columns, rows }: Answer): string {
  const of = (column: string): Formatter | undefined => given.find((formatter) => isFor(formatter, column));
  const shown = columns.filter(({ name }) => of(name)?.formatter !== formatters.hidden);
  const labels = new Map(labelSettings.map(({ columnId, label }) => [columnId, label]));
  const head = shown.map(({ name, type }) => `<th${align(type)}>${escaped(labels.get(name) ?? name)}</th>`);
  const most = (column: string): number => {
    const formatter = of(column);
    const together = formatter ? columns.filter(({ name }) => isFor(formatter, name)) : [];
    return Math.max(...rows.flatMap((row) => together.map(({ name }) => Number(row[name] ?? 0))));
  };
  const mostOf = new Map(shown.map(({ name }) => [name, most(name)]));
  const limit = given.some(({ formatter }) => formatter === formatters.compositeBar) ? mostRows.lanes : mostRows.table;
  const body = rows.slice(0, limit).map((row) => {
    const cells = shown.map(({ name, type }) => {
      return `<td${align(type)}>${drawCell(row, name, type, of(name), mostOf.get(name) ?? 0)}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  const more = rows.length > limit ? `<p class="more">and ${rows.length - limit} more</p>` : '';
  const dense = shown.length > 20 ? ' class="dense"' : '';
  return `<div class="scroll"><table${dense}><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>${more}`;
}

/** Whether settings are for a column: they name it, or are a regular expression for several. */
export const isFor = ({ columnMatch }: Formatter, column: string): boolean =>
  columnMatch.startsWith('^') ? new RegExp(columnMatch).test(column) : columnMatch === column;

const isNumber = (type: string): boolean => ['int', 'long', 'real'].includes(type);
const align = (type: string): string => (isNumber(type) ? ' class="number"' : '');

function drawCell(
  row: Answer['rows'][number],
  column: string,
  type: string,
  formatter: Formatter | undefined,
  most: number,
): string {
  const value = row[column] ?? null;
  const parts = formatter?.formatOptions?.compositeBarSettings?.columnSettings;
  if (parts) return drawParts(parts, row);
  if (value === null || value === '') return '<span class="nothing">–</span>';
  const text = isNumber(type) ? numberText(Number(value), formatter?.numberFormat) : plain(value, type);
  const share = most > 0 ? Number(value) / most : 0;
  switch (formatter?.formatter) {
    case formatters.bar:
      return `<span class="bar"><i style="width:${(share * 64).toFixed(0)}px"></i>${text}</span>`;
    case formatters.heat:
      return `<span class="heat" style="background:rgba(240,140,10,${(Math.sqrt(share) * 0.75).toFixed(2)})">${text}</span>`;
    case formatters.thresholds:
      return formatter.formatOptions?.thresholdsOptions === 'colors'
        ? drawColoured(text, formatter)
        : `${sign(String(value), formatter)}${escaped(text)}`;
    case formatters.resource:
      return `<a title="${escaped(text)}">${escaped(shortId(text))}</a>`;
    default:
      return `<span class="text" title="${escaped(text)}">${escaped(text)}</span>`;
  }
}

type Parts = NonNullable<NonNullable<Formatter['formatOptions']>['compositeBarSettings']>['columnSettings'];

/** One bar, each part as long as its share of the sum. Grey parts are empty time: the portal draws them grey. */
function drawParts(parts: Parts, row: Answer['rows'][number]): string {
  const lengths = parts.map(({ columnName, color }) => ({ color, length: Number(row[columnName] ?? 0) }));
  const sum = lengths.reduce((total, { length }) => total + length, 0);
  const drawn = lengths.map(({ color, length }) => {
    const hex = color === 'gray' ? '#f1f2f4' : hexOf(color);
    return `<i style="width:${((100 * length) / Math.max(sum, Number.EPSILON)).toFixed(2)}%;background:${hex}"></i>`;
  });
  return `<span class="parts">${drawn.join('')}</span>`;
}

function drawColoured(text: string, { formatOptions }: Formatter): string {
  const matching = formatOptions?.thresholdsGrid?.find(
    ({ operator, thresholdValue = '' }) => operator === 'contains' && text.includes(thresholdValue),
  );
  const style = matching ? ` style="background:${hexOf(matching.representation)}"` : '';
  return `<span class="tag"${style}>${escaped(text)}</span>`;
}

function plain(value: Cell, type: string): string {
  if (type === 'datetime') return momentText(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The last names of a resource ID: `shop / 13`, or that of a resource group. */
const shortId = (id: string): string => {
  const [, ofProvider] = id.split('/providers/microsoft.compute/');
  if (ofProvider === undefined) return id.split('/').at(-1) ?? id;
  return ofProvider
    .split('/')
    .filter((_, index) => index % 2 === 1)
    .join(' / ');
};

const classOf: Readonly<Record<string, string>> = { '4': 'act', '2': 'watch', success: 'fine' };

function sign(value: string, { formatOptions }: Formatter): string {
  const matching = formatOptions?.thresholdsGrid?.find(({ thresholdValue }) => thresholdValue === value);
  return matching ? `<i class="sign ${classOf[matching.representation] ?? ''}"></i>` : '';
}

/** One tile for each row. */
export function drawTiles(
  { titleContent, subtitleContent, leftContent, secondaryContent }: TileSettings,
  { rows }: Answer,
): string {
  const tiles = rows.map((row) => {
    const text = (content: Formatter | undefined) => escaped(String(row[content?.columnMatch ?? ''] ?? ''));
    const figure = leftContent ? numberText(Number(row[leftContent.columnMatch]), leftContent.numberFormat) : '';
    const urgency = text(secondaryContent);
    return `<div class="tile ${urgency}"><h4>${text(titleContent)}</h4><b>${figure}</b><p>${text(subtitleContent)}</p></div>`;
  });
  return `<div class="tiles">${tiles.join('')}</div>`;
}
