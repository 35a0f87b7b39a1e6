import { type Row, type Style, widthOf } from '../../src/terminal/styled-text.ts';

/** A picture of a terminal at one time, shown for so long in the animation. */
export interface Still {
  readonly rows: readonly Row[];
  readonly ms: number;
}

const fontSize = 13;
const cell = { width: 7.8, height: 17 };
const margin = { x: 18, top: 48, bottom: 16 };

const yOf = (row: number): number => margin.top + Math.round((row + 0.75) * cell.height);

/** Dark on any page: a terminal has its own background. */
const page = { background: '#0d1117', border: '#30363d', bar: '#161b22', title: '#8b949e' };
const fill: Readonly<Record<Style, string>> = {
  plain: '#c9d1d9',
  strong: '#f0f6fc',
  quiet: '#7d8590',
  scheduled: '#e3b341',
  started: '#d2a8ff',
  ended: '#3fb950',
  canceled: '#58a6ff',
  frozen: '#39c5cf',
  broken: '#ff7b72',
};

/**
 * A terminal window as SVG: text as text, the stills one after the other, again and again. Where nothing moves (a renderer
 * without animation, a reader who wants less motion) the last one stands.
 */
export function toSvg(
  stills: readonly Still[],
  { title, columns }: { readonly title: string; readonly columns: number },
) {
  const rows = Math.max(...stills.map((still) => still.rows.length));
  const width = Math.ceil(columns * cell.width + 2 * margin.x);
  const height = margin.top + rows * cell.height + margin.bottom;
  const wholeMs = stills.reduce((sum, { ms }) => sum + ms, 0);
  const last = stills.length - 1;
  /** The same in every still: drawn once. */
  const isStatic = (number: number): boolean =>
    new Set(stills.map((still) => JSON.stringify(still.rows[number]))).size === 1;
  const standing = (stills[0]?.rows ?? []).map((row, number) => (isStatic(number) ? line(row, yOf(number)) : ''));
  const keyframes: string[] = [];
  const groups: string[] = [];
  let beginsMs = 0;
  for (const [n, { rows: lines, ms }] of stills.entries()) {
    const [from, to] = [beginsMs, beginsMs + ms].map((at) => `${((100 * at) / wholeMs).toFixed(2)}%`);
    const before = n === 0 ? '' : '0%{visibility:hidden}';
    const after = n === last ? '' : `${to}{visibility:hidden}`;
    keyframes.push(`@keyframes s${n}{${before}${from}{visibility:visible}${after}}`, `#s${n}{animation-name:s${n}}`);
    const moving = lines.map((row, number) => (isStatic(number) ? '' : line(row, yOf(number))));
    groups.push(`<g id="s${n}" class="${n === last ? 'still' : 'still gone'}">${moving.join('')}</g>`);
    beginsMs += ms;
  }
  const styles = Object.entries(fill).map(([style, colour]) => `.${style}{fill:${colour}}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
<style>
text{font:${fontSize}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace}
${styles.join('')}.strong,.broken{font-weight:600}.title{fill:${page.title}}
.gone{visibility:hidden}
.still{animation:${wholeMs}ms step-end infinite}
${keyframes.join('\n')}
@media (prefers-reduced-motion:reduce){#s0,.still{animation:none}}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="9" fill="${page.background}" stroke="${page.border}"/>
<path d="M1 32V10a9 9 0 0 1 9-9h${width - 20}a9 9 0 0 1 9 9v22z" fill="${page.bar}"/>
<circle cx="20" cy="17" r="5.5" fill="#ff5f57"/><circle cx="39" cy="17" r="5.5" fill="#febc2e"/><circle cx="58" cy="17" r="5.5" fill="#28c840"/>
<text class="title" x="${width / 2}" y="21" text-anchor="middle">${title}</text>
${standing.join('')}
${groups.join('\n')}
</svg>
`;
}

/**
 * Each word or run of words at its own place and as wide as its columns are, whatever font the reader has. What is drawn with
 * characters is stretched, so that lines stay lines; letters are only set apart.
 */
function line(row: Row, y: number): string {
  return row
    .map(({ text, style }, index) => {
      const before = widthOf(row.slice(0, index));
      return [...text.matchAll(/\S+(?: \S+)*/g)]
        .map(([run], n, runs) => {
          const x = (margin.x + (before + (runs[n]?.index ?? 0)) * cell.width).toFixed(1);
          const stretch = /^[\x20-\x7e]+$/.test(run) ? '' : ' lengthAdjust="spacingAndGlyphs"';
          const length = (run.length * cell.width).toFixed(1);
          return `<text class="${style}" x="${x}" y="${y}" textLength="${length}"${stretch}>${escaped(run)}</text>`;
        })
        .join('');
    })
    .join('');
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
