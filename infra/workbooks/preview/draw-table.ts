import type { Cell } from '../../../test/support/kql/index.ts';
import { type Formatter, formatters, type GridSettings, type TileSettings } from '../workbook-json.ts';
import type { Answer } from './answer.ts';
import { escaped, momentText, numberText } from './figures.ts';

const mostRows = 10;

/** Rows as an HTML table, formatted as the settings say. */
export function drawTable({ formatters: given, labelSettings }: GridSettings, { columns, rows }: Answer): string {
  const byColumn = new Map(given.map((formatter) => [formatter.columnMatch, formatter]));
  const labels = new Map(labelSettings.map(({ columnId, label }) => [columnId, label]));
  const head = columns.map(({ name, type }) => `<th${align(type)}>${escaped(labels.get(name) ?? name)}</th>`);
  const body = rows.slice(0, mostRows).map((row) => {
    const cells = columns.map(({ name, type }) => {
      const most = Math.max(...rows.map((each) => Number(each[name] ?? 0)));
      return `<td${align(type)}>${drawCell(row[name] ?? null, type, byColumn.get(name), most)}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  const more = rows.length > mostRows ? `<p class="more">and ${rows.length - mostRows} more</p>` : '';
  return `<div class="scroll"><table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>${more}`;
}

const isNumber = (type: string): boolean => ['int', 'long', 'real'].includes(type);
const align = (type: string): string => (isNumber(type) ? ' class="number"' : '');

function drawCell(value: Cell, type: string, formatter: Formatter | undefined, most: number): string {
  if (value === null || value === '') return '<span class="nothing">–</span>';
  const text = isNumber(type) ? numberText(Number(value), formatter?.numberFormat) : plain(value, type);
  const share = most > 0 ? Number(value) / most : 0;
  switch (formatter?.formatter) {
    case formatters.bar:
      return `<span class="bar"><i style="width:${(share * 64).toFixed(0)}px"></i>${text}</span>`;
    case formatters.heat:
      return `<span class="heat" style="background:rgba(240,140,10,${(share * 0.55).toFixed(2)})">${text}</span>`;
    case formatters.thresholds:
      return `${sign(String(value), formatter)}${escaped(text)}`;
    case formatters.resource:
      return `<a title="${escaped(text)}">${escaped(shortId(text))}</a>`;
    default:
      return `<span class="text" title="${escaped(text)}">${escaped(text)}</span>`;
  }
}

function plain(value: Cell, type: string): string {
  if (type === 'datetime') return momentText(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The last names of a resource id: `shop / 13`. */
const shortId = (id: string): string =>
  (id.split('/providers/microsoft.compute/')[1] ?? id)
    .split('/')
    .filter((_, index) => index % 2 === 1)
    .join(' / ');

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
