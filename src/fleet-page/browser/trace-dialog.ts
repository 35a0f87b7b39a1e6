import type { Trace, TraceView } from '../answers.ts';
import { durationOf, momentOf } from '../time.ts';
import { byId, type Column, html, replace, table } from './elements.ts';

const words = (evidence: readonly string[]): HTMLElement =>
  evidence.length === 0
    ? html('span', { class: 'quiet' }, 'no evidence')
    : html('span', { class: 'evidence' }, ...evidence.map((word) => html('code', {}, word)));
const seconds = (value: number | null): string => (value === null ? '–' : durationOf(value));

/** The trace of one event: its steps with their evidence, and every VM's view of it. */
export class TraceDialog {
  readonly #dialog = byId<HTMLDialogElement>('trace');
  #shown = '';

  constructor(closed: () => void) {
    this.#dialog.addEventListener('close', closed);
    this.#dialog.addEventListener('click', (event) => {
      if (event.target === this.#dialog) this.#dialog.close();
    });
  }

  show(eventId: string, trace: Trace | null, now: number): void {
    const text = JSON.stringify(trace);
    if (text !== this.#shown || trace === null)
      replace(this.#dialog, ...(trace === null ? this.#unknown(eventId) : this.#content(trace, now)));
    this.#shown = text;
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  close(): void {
    this.#shown = '';
    if (this.#dialog.open) this.#dialog.close();
  }

  #head(title: string): HTMLElement {
    const close = html(
      'button',
      { type: 'button', class: 'close', 'data-key': 'close', click: () => this.#dialog.close() },
      'Close',
    );
    return html('div', { class: 'trace-head' }, html('h2', { id: 'trace-title' }, title), close);
  }

  #unknown(eventId: string): HTMLElement[] {
    return [
      this.#head('Unknown event'),
      html('p', {}, `No record of the event ${eventId} has been read. It may be older than what the hub keeps.`),
    ];
  }

  #content(trace: Trace, now: number): (HTMLElement | null)[] {
    const { eventId, eventType, eventSource, description, notBefore, expectedSeconds, outcome, steps, views, silent } =
      trace;
    const facts: readonly (readonly [string, string | HTMLElement])[] = [
      ['Event ID', html('code', {}, eventId)],
      ['By', eventSource],
      ['Not before', notBefore === null ? 'unknown' : momentOf(notBefore, now)],
      ['Expected duration', expectedSeconds === null ? 'unknown' : `${durationOf(expectedSeconds)}, by Azure`],
      ['Outcome', html('strong', {}, outcome)],
    ];
    const rows = steps.map(({ at, phase, evidence, changes, reportedBy, isEnd }) =>
      html(
        'li',
        { class: isEnd ? 'end' : null },
        html('time', { datetime: new Date(at).toISOString() }, momentOf(at, now)),
        html('strong', {}, phase),
        words(evidence),
        ...changes.map((change) => html('span', { class: 'change' }, change)),
        html('span', { class: 'quiet' }, `reported by ${reportedBy}`),
      ),
    );
    return [
      this.#head(eventType),
      description === null ? null : html('p', {}, description),
      html('dl', {}, ...facts.flatMap(([name, value]) => [html('dt', {}, name), html('dd', {}, value)])),
      html('h3', {}, 'Steps'),
      html('ol', { class: 'trace-steps' }, ...rows),
      html('h3', {}, `What each VM reported (${views.total})`),
      html(
        'div',
        { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'What each VM reported' },
        table('What each VM reported', viewColumns(views.rows, now), views.rows),
      ),
      views.total > views.rows.length
        ? html('p', { class: 'note' }, `The first ${views.rows.length} of ${views.total} VMs.`)
        : null,
      silent.length === 0
        ? null
        : html(
            'p',
            { class: 'note' },
            `Named, without a report of their own: ${silent.slice(0, 60).join(', ')}${silent.length > 60 ? ` and ${silent.length - 60} more` : ''}. Nothing was measured there.`,
          ),
    ];
  }
}

/** What no VM has to report has no column. */
const viewColumns = (rows: readonly TraceView[], now: number): readonly Column<TraceView>[] => [
  { label: 'VM', cell: ({ vm }) => html('strong', {}, vm) },
  { label: 'Zone/fault domain', cell: ({ place }) => place || 'unknown' },
  { label: 'As', cell: ({ role }) => role },
  {
    label: 'Last report',
    cell: ({ phase, at }) => html('span', {}, `${phase} `, html('time', { class: 'quiet' }, momentOf(at, now))),
  },
  { label: 'Evidence', cell: ({ evidence }) => words(evidence) },
  { label: 'Notice', isNumber: true, cell: ({ noticeSeconds }) => seconds(noticeSeconds) },
  { label: 'Listed as started', isNumber: true, cell: ({ startedSeconds }) => seconds(startedSeconds) },
  { label: 'Down, measured', isNumber: true, cell: ({ downSeconds }) => seconds(downSeconds) },
  ...columnIf(
    rows.some(({ pausedMs }) => pausedMs !== null),
    {
      label: 'Paused, measured',
      isNumber: true,
      cell: ({ pausedMs, longestPauseMs }) => {
        if (pausedMs === null) return '–';
        const longest =
          longestPauseMs !== null && longestPauseMs !== pausedMs
            ? `, longest ${durationOf(longestPauseMs / 1000)}`
            : '';
        return durationOf(pausedMs / 1000) + longest;
      },
    },
  ),
  ...columnIf(
    rows.some(({ host }) => host !== null),
    { label: 'Host', cell: ({ host }) => host ?? '–' },
  ),
  ...columnIf(
    rows.some(({ missing }) => missing > 0),
    { label: 'Records missing', isNumber: true, cell: ({ missing }) => (missing === 0 ? '–' : String(missing)) },
  ),
];

const columnIf = (isUsed: boolean, column: Column<TraceView>): readonly Column<TraceView>[] => (isUsed ? [column] : []);
