import type { Line } from './report.ts';
import type { Simulation } from './simulate.ts';

const [width, height, left, right, top, bottom] = [860, 340, 64, 20, 64, 44] as const;

/** Dashes distinguish the lines as well. The colors are three of Okabe and Ito, darker or lighter where the background needs it. */
const styles = [
  { light: '#005a9c', dark: '#56b4e9', dashes: '' },
  { light: '#b34700', dark: '#e69f00', dashes: '9 4' },
  { light: '#00735c', dark: '#2fd3a5', dashes: '2 4' },
] as const;

const css = [
  'text{fill:#1f2937}.axis{stroke:#6b7280}.quota{stroke:#1f2937}.paper{fill:#fff}.line{fill:none;stroke-width:2.5}',
  ...styles.map(({ light }, index) => `.line${index}{stroke:${light}}`),
  '@media(prefers-color-scheme:dark){text{fill:#e5e7eb}.axis{stroke:#9ca3af}.quota{stroke:#e5e7eb}.paper{fill:#0d1117}',
  ...styles.map(({ dark }, index) => `.line${index}{stroke:${dark}}`),
  '}',
].join('');

/** Open connections of the fullest namespace over time, a line for each simulation, with the quota of Azure, as SVG. */
export function connectionsPlot(title: string, lines: readonly Line[], quota: number): string {
  const duration = Math.max(...lines.map(({ simulation }) => simulation.seconds.length));
  const most = Math.max(quota, ...lines.map(({ simulation }) => simulation.peak.connections)) * 1.1;
  const x = (second: number): number => left + (second / duration) * (width - left - right);
  const y = (value: number): number => height - bottom - (value / most) * (height - top - bottom);
  /** The most of each part of the time, so that no peak is lost. */
  const points = ({ seconds }: Simulation): string => {
    const every = Math.max(1, Math.ceil(seconds.length / 700));
    return Array.from({ length: Math.ceil(seconds.length / every) }, (_, index) => {
      const part = seconds.slice(index * every, (index + 1) * every);
      const value = Math.max(...part.map(({ connections }) => connections));
      return `${x(index * every).toFixed(1)},${y(value).toFixed(1)}`;
    }).join(' ');
  };
  const text = (px: number, py: number, words: string, more = ''): string =>
    `<text x="${px.toFixed(1)}" y="${py.toFixed(1)}" ${more}>${words}</text>`;
  const rule = (from: readonly [number, number], to: readonly [number, number], more: string): string =>
    `<line x1="${from[0].toFixed(1)}" y1="${from[1].toFixed(1)}" x2="${to[0].toFixed(1)}" y2="${to[1].toFixed(1)}" ${more}/>`;
  const minutes = Array.from({ length: Math.floor(duration / 300) + 1 }, (_, index) => index * 5);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13" role="img" aria-label="${title}">`,
    `<style>${css}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    text(left, 20, title, 'font-size="14" font-weight="600"'),
    ...minutes.map((minute) => text(x(minute * 60), height - 24, String(minute), 'text-anchor="middle"')),
    text(width - right, height - 6, 'minutes', 'text-anchor="end"'),
    rule([left, y(0)], [width - right, y(0)], 'class="axis"'),
    rule([left, y(quota)], [width - right, y(quota)], 'class="quota" stroke-dasharray="1 3"'),
    ...[0, quota].map((value) => text(left - 6, y(value) + 4, value.toLocaleString('en-US'), 'text-anchor="end"')),
    text(width - right, y(quota) - 6, 'a Standard namespace accepts no more', 'text-anchor="end"'),
    ...lines.flatMap(({ name, simulation }, index) => {
      const style = `class="line line${index % styles.length}" stroke-dasharray="${styles[index % styles.length]?.dashes}"`;
      const begin = left + index * 210;
      return [
        `<polyline points="${points(simulation)}" ${style}/>`,
        rule([begin, 40], [begin + 34, 40], style),
        text(begin + 42, 44, `${name}, at most ${simulation.peak.connections.toLocaleString('en-US')}`),
      ];
    }),
    '</svg>',
  ].join('\n')}\n`;
}
