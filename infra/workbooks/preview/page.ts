import type { Answer } from './answer.ts';
import { drawChart } from './draw-chart.ts';
import { drawTable, drawTiles } from './draw-table.ts';
import { escaped } from './figures.ts';
import type { Step } from './read-workbook.ts';
import { style } from './style.ts';

/** A step with what it answered. */
export interface Answered {
  readonly step: Step;
  readonly answer: Answer;
}

const pageWidth = 1400;

/** The whole workbook as one page, tab below tab. */
export function drawPage(tabs: readonly string[], answered: readonly Answered[], about: string): string {
  const nav = tabs.map((tab) => `<a href="#${anchor(tab)}">${escaped(tab)}</a>`);
  const sections = tabs.map((tab) => {
    const cards = answered.filter(({ step }) => step.tab === tab).map(drawCard);
    return `<section id="${anchor(tab)}"><h2>${escaped(tab)}</h2><div class="cards">${cards.join('\n')}</div></section>`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>VM lifecycle</title>
<style>${style}</style>
<header><h1>VM lifecycle</h1><p>${escaped(about)}</p><nav>${nav.join('')}</nav></header>
<main>
${sections.join('\n')}
</main>
</html>
`;
}

const anchor = (tab: string): string => tab.toLowerCase().replaceAll(' ', '-');

function drawCard({ step, answer }: Answered): string {
  const { name, width, content } = step;
  return `<article id="${name}" style="--width:${width}"><h3>${escaped(content.title)}</h3>${drawn(step, answer)}</article>`;
}

function drawn({ width, content }: Step, answer: Answer): string {
  if (answer.rows.length === 0) return `<p class="empty">${escaped(content.noDataMessage)}</p>`;
  if (content.tileSettings) return drawTiles(content.tileSettings, answer);
  if (content.gridSettings) return drawTable(content.gridSettings, answer);
  return drawChart(content, answer, Math.round((pageWidth * width) / 100) - 60, 280);
}
