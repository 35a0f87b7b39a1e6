import { type EChartsOption, init } from 'echarts';
import type { ChartSettings, QueryContent } from '../workbook-json.ts';
import type { Answer } from './answer.ts';
import { dayText, momentText, numberText } from './figures.ts';
import { hexOf } from './palette.ts';

/** For names without a fixed colour. */
const others = ['#3b6fb6', '#5aa469', '#e0b13a', '#a05195', '#6c8ea0', '#ef7c4d'];

interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/** The chart of a step as SVG, drawn without a browser. */
export function drawChart(content: QueryContent, answer: Answer, width: number, height: number): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption(content.visualization === 'piechart' ? pie(content, answer) : axes(content, answer));
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}

const font = { fontFamily: 'Segoe UI, Inter, Helvetica, Arial, sans-serif', color: '#4b5563', fontSize: 12 };

function pie({ chartSettings = noSettings }: QueryContent, { rows }: Answer): EChartsOption {
  const { xAxis, yAxis: [y = ''] = [] } = chartSettings;
  const data = rows.map((row, index) => ({
    name: String(row[xAxis]),
    value: Number(row[y]),
    itemStyle: { color: colourOf(String(row[xAxis]), index, chartSettings) },
  }));
  return {
    animation: false,
    textStyle: font,
    series: [
      {
        type: 'pie',
        radius: ['52%', '76%'],
        data,
        itemStyle: { borderColor: '#fff', borderWidth: 2 },
        label: { formatter: '{b}\n{c}', lineHeight: 16, ...font },
      },
    ],
  };
}

const noSettings: ChartSettings = { xAxis: '', yAxis: [] };

/** The colour that the settings give to a series, else one of the palette. */
function colourOf(name: string, index: number, { seriesLabelSettings = [] }: ChartSettings): string {
  const fixed = seriesLabelSettings.find(({ seriesName }) => seriesName === name);
  return fixed ? hexOf(fixed.color) : (others[index % others.length] ?? '#888');
}

function axes(content: QueryContent, answer: Answer): EChartsOption {
  const { chartSettings = noSettings, visualization } = content;
  const { xAxis, yAxis, group, ySettings } = chartSettings;
  const isTime = answer.columns.find(({ name }) => name === xAxis)?.type === 'datetime';
  const places = [...new Set(answer.rows.map((row) => String(row[xAxis])))];
  const series =
    group === undefined ? columnsAsSeries(answer, yAxis) : groupsAsSeries(answer, xAxis, yAxis[0] ?? '', group, places);
  const isDaily = isTime && places.every((place) => place.includes('T00:00:00'));
  const isContinuous = visualization === 'areachart';
  const labels = isTime ? places.map(isDaily ? dayText : momentText) : places;
  const isLong = labels.some((label) => label.length > 18) && labels.length > 4;
  const points = (values: Series['values']) =>
    isContinuous
      ? values.flatMap((value, index) => (value === null ? [] : [[Date.parse(places[index] ?? ''), value]]))
      : [...values];
  return {
    animation: false,
    textStyle: font,
    useUTC: true,
    grid: { left: isLong ? 90 : 8, right: 28, top: 16, bottom: 34, containLabel: true },
    legend: { bottom: 0, icon: 'roundRect', itemWidth: 10, itemHeight: 10, textStyle: font },
    xAxis: isContinuous
      ? { type: 'time', axisLabel: { ...font, hideOverlap: true, formatter: '{d} {MMM} {HH}:{mm}' } }
      : {
          type: 'category',
          data: isTime && !isDaily ? places.map(dayText) : labels,
          boundaryGap: visualization !== 'linechart',
          axisTick: { show: false },
          axisLine: { lineStyle: { color: '#d1d5db' } },
          axisLabel: isLong
            ? { ...font, interval: 0, rotate: 18, width: 150, overflow: 'truncate' }
            : { ...font, hideOverlap: true },
        },
    yAxis: {
      type: 'value',
      minInterval: ySettings ? 0 : 1,
      splitLine: { lineStyle: { color: '#eef0f3' } },
      axisLabel: { ...font, formatter: (value: number) => numberText(value, ySettings?.numberFormatSettings) },
    },
    series: series.map(({ name, values }, index) => {
      const color = colourOf(name, index, chartSettings);
      return visualization === 'linechart' || isContinuous
        ? {
            type: 'line',
            name,
            data: points(values),
            color,
            showSymbol: !isContinuous,
            symbolSize: 5,
            lineStyle: { width: isContinuous ? 1.5 : 2.5 },
            areaStyle: { opacity: isContinuous ? 0.3 : 0.06 },
          }
        : {
            type: 'bar',
            name,
            data: points(values),
            color,
            barMaxWidth: places.length < 5 ? 64 : 34,
            ...(group === undefined ? {} : { stack: 'one' }),
            itemStyle: { borderRadius: group === undefined ? [3, 3, 0, 0] : 0 },
          };
    }),
  };
}

const columnsAsSeries = ({ rows }: Answer, columns: readonly string[]): Series[] =>
  columns.map((name) => ({ name, values: rows.map((row) => (row[name] === null ? null : Number(row[name]))) }));

function groupsAsSeries({ rows }: Answer, x: string, y: string, group: string, places: readonly string[]): Series[] {
  const names = [...new Set(rows.map((row) => String(row[group])))];
  return names.map((name) => ({
    name: name === '' ? 'none' : name,
    values: places.map((place) => {
      const found = rows.find((row) => String(row[x]) === place && String(row[group]) === name);
      return found ? Number(found[y]) : null;
    }),
  }));
}
