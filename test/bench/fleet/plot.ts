import type { Simulation } from './simulate.ts';

const [width, height, left, right, top, bottom] = [860, 300, 70, 20, 46, 40] as const;
const colors = ['#0b62c4', '#c2410c', '#15803d', '#7e22ce'] as const;

/** Open connections of the fullest namespace over time, a line for each simulation, with the quota of Azure, as SVG. */
export function connectionsPlot(
  title: string,
  lines: readonly (readonly [label: string, Simulation])[],
  quota: number,
): string {
  const lengths = lines.map(([, { seconds }]) => seconds.length);
  const duration = Math.max(...lengths);
  const most = Math.max(quota * 1.2, ...lines.map(([, { peak }]) => peak.connections)) * 1.05;
  const x = (second: number): number => left + (second / duration) * (width - left - right);
  const y = (value: number): number => height - bottom - (value / most) * (height - top - bottom);
  const path = ({ seconds }: Simulation): string => {
    const every = Math.max(1, Math.floor(seconds.length / 600));
    const points = seconds.flatMap(({ connections }, second) =>
      second % every === 0 ? [`${x(second).toFixed(1)},${y(connections).toFixed(1)}`] : [],
    );
    return points.join(' ');
  };
  const minutes = Array.from({ length: Math.floor(duration / 300) + 1 }, (_, index) => index * 5);
  const text = (px: number, py: number, words: string, more = ''): string =>
    `<text x="${px.toFixed(1)}" y="${py.toFixed(1)}" ${more}>${words}</text>`;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#1f2937" role="img" aria-label="${title}">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(left, 18, title, 'font-size="14" font-weight="600"'),
    ...minutes.map((minute) =>
      text(x(minute * 60), height - 20, String(minute), 'text-anchor="middle" fill="#6b7280"'),
    ),
    text(width - right, height - 4, 'minutes', 'text-anchor="end" fill="#6b7280"'),
    `<line x1="${left}" y1="${y(0)}" x2="${width - right}" y2="${y(0)}" stroke="#9ca3af"/>`,
    `<line x1="${left}" y1="${y(quota).toFixed(1)}" x2="${width - right}" y2="${y(quota).toFixed(1)}" stroke="#b91c1c" stroke-dasharray="4 4"/>`,
    text(left - 6, y(quota) + 4, quota.toLocaleString('en-US'), 'text-anchor="end" fill="#b91c1c"'),
    text(left - 6, y(0) + 4, '0', 'text-anchor="end" fill="#6b7280"'),
    ...lines.flatMap(([label, simulation], index) => {
      const color = colors[index % colors.length] ?? colors[0];
      return [
        `<polyline points="${path(simulation)}" fill="none" stroke="${color}" stroke-width="2"/>`,
        text(left + index * 200, 36, label, `fill="${color}"`),
      ];
    }),
    '</svg>',
  ].join('\n')}\n`;
}
