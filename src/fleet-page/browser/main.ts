import type { PageView, Trace } from '../answers.ts';
import { statusOf, whyNone } from '../page-state.ts';
import { formatQuery, parseQuery, type Query, windows } from '../query.ts';
import { clockOf, countdownOf, dayOf, durationOf } from '../time.ts';
import { byId, type Child, html, replace } from './elements.ts';
import { calendarOf, capacityOf, openOf, pastOf, type SectionContext, tilesOf } from './sections.ts';
import { SwimlaneChart } from './swimlane-chart.ts';
import { TraceDialog } from './trace-dialog.ts';

/** Time passes without records too: countdowns become due, bars grow. */
const refreshMs = 15_000;
/** However fast records arrive, the page asks no more often. */
const pauseMs = 400;

/** Shows what the server answers; keeps the query in the URL. */
class FleetPage {
  #query: Query = parseQuery(new URLSearchParams(location.search));
  /** Clock of the server minus ours, milliseconds. */
  #offsetMs = 0;
  #view: PageView | null = null;
  #isConnected = false;
  #isAsking = false;
  #isStale = false;
  /** What a person does is answered at once. */
  #endPause: () => void = () => {};
  #asked = new AbortController();
  #lastDrawn = new Map<string, string>();
  #changes: EventSource | null = null;
  readonly #swimlanes = new SwimlaneChart((eventId) => this.#openTrace(eventId));
  readonly #trace = new TraceDialog(() => this.#go({ event: '' }));

  start(): void {
    this.#showQuery();
    this.#listen();
    this.#follow();
    void this.#ask();
    setInterval(() => this.#tick(), 1000);
    setInterval(() => void this.#ask(), refreshMs);
    this.#tick();
  }

  #now(): number {
    return Date.now() + this.#offsetMs;
  }

  /** A browser has six connections to a server for all its tabs: a hidden one takes none. */
  #follow(): void {
    this.#changes?.close();
    this.#changes = null;
    if (document.hidden) return;
    const changes = new EventSource('/changes');
    this.#changes = changes;
    changes.addEventListener('changed', () => void this.#ask());
    changes.addEventListener('open', () => this.#connected(true));
    changes.addEventListener('error', () => this.#connected(false));
  }

  #connected(is: boolean): void {
    if (is && !this.#isConnected) void this.#ask();
    this.#isConnected = is;
    this.#tick();
  }

  #listen(): void {
    addEventListener('popstate', () => {
      this.#query = parseQuery(new URLSearchParams(location.search));
      this.#showQuery();
      this.#askNow();
    });
    document.addEventListener('visibilitychange', () => {
      this.#follow();
      void this.#ask();
    });
    for (const name of ['type', 'set', 'tag', 'window'] as const)
      byId<HTMLSelectElement>(`filter-${name}`).addEventListener('change', (event) =>
        this.#go({ [name]: (event.target as HTMLSelectElement).value }),
      );
    byId<HTMLInputElement>('filter-vm').addEventListener('input', (event) =>
      this.#go({ vm: (event.target as HTMLInputElement).value }),
    );
    byId('filters').addEventListener('submit', (event) => event.preventDefault());
    byId('earlier').addEventListener('click', () => this.#move(-0.5));
    byId('later').addEventListener('click', () => this.#move(0.5));
    byId('present').addEventListener('click', () => this.#go({ until: null }));
    byId('clear').addEventListener('click', () => this.#go({ vm: '', type: '', set: '', tag: '' }));
  }

  /** By a share of the window. */
  #move(share: number): void {
    const to = this.#view?.swimlanes.to ?? this.#now();
    this.#go({ until: Math.round(to + share * windows[this.#query.window]) });
  }

  #openTrace(eventId: string): void {
    this.#go({ event: eventId });
  }

  #go(change: Partial<Query>): void {
    const before = formatQuery(this.#query);
    this.#query = { ...this.#query, ...change };
    const search = formatQuery(this.#query);
    if (search === before) return;
    const url = location.pathname + search;
    // Typing is one step of the history, not one for each letter.
    if ('vm' in change && Object.keys(change).length === 1) history.replaceState(null, '', url);
    else history.pushState(null, '', url);
    this.#showQuery();
    this.#askNow();
  }

  #askNow(): void {
    this.#asked.abort();
    this.#endPause();
    void this.#ask();
  }

  #showQuery(): void {
    const { vm, window, until } = this.#query;
    const input = byId<HTMLInputElement>('filter-vm');
    if (input.value !== vm) input.value = vm;
    this.#choices('type', this.#view?.choices.types ?? [], 'all events');
    this.#choices('set', this.#view?.choices.sets ?? [], 'all sets');
    this.#choices('tag', this.#view?.choices.tags ?? [], 'all tags');
    const select = byId<HTMLSelectElement>('filter-window');
    if (select.options.length === 0)
      select.append(...Object.keys(windows).map((name) => html('option', { value: name }, name)));
    select.value = window;
    byId('present').setAttribute('aria-pressed', String(until === null));
    if (this.#query.event === '') this.#trace.close();
  }

  #choices(name: 'type' | 'set' | 'tag', values: readonly string[], all: string): void {
    const chosen = this.#query[name];
    const select = byId<HTMLSelectElement>(`filter-${name}`);
    const options = ['', ...new Set(chosen === '' ? values : [...values, chosen])];
    const key = JSON.stringify(options);
    if (this.#lastDrawn.get(name) !== key) {
      this.#lastDrawn.set(name, key);
      select.replaceChildren(...options.map((value) => html('option', { value }, value || all)));
    }
    if (select.value !== chosen) select.value = chosen;
  }

  /** One question at a time; what changes meanwhile is asked once more. */
  async #ask(): Promise<void> {
    this.#isStale = true;
    if (this.#isAsking || document.hidden) return;
    this.#isAsking = true;
    while (this.#isStale) {
      this.#isStale = false;
      const query = this.#query;
      this.#asked = new AbortController();
      const { signal } = this.#asked;
      try {
        const [view, trace] = await Promise.all([
          fetchJson<PageView>(`/view${formatQuery({ ...query, event: '' })}`, signal),
          query.event === '' ? null : fetchJson<Trace>(`/trace?event=${encodeURIComponent(query.event)}`, signal),
        ]);
        if (view !== null) this.#draw(view);
        if (query.event !== '' && query.event === this.#query.event) this.#trace.show(query.event, trace, this.#now());
      } catch {
        // Another answer is wanted by now. Or the connection is down: its own event says so, and another one when it is up.
      }
      if (query === this.#query)
        await new Promise<void>((resolve) => {
          this.#endPause = resolve;
          setTimeout(resolve, pauseMs);
        });
    }
    this.#isAsking = false;
  }

  #draw(view: PageView): void {
    this.#view = view;
    this.#offsetMs = view.now - Date.now();
    const context: SectionContext = {
      now: view.now,
      why: (sentence) => whyNone(sentence, view),
      open: (eventId) => this.#openTrace(eventId),
    };
    const { problems, notes } = view.reading;
    this.#section('problems', problems, () => problems.map((problem) => html('p', {}, problem)));
    this.#section('notes', notes, () => notes.map((note) => html('p', { class: 'note' }, note)));
    this.#section('tiles', view.tiles, () => tilesOf(view.tiles));
    const emptyKey = context.why('');
    this.#section('open', [view.open, emptyKey], () => openOf(view.open, context));
    this.#section('calendar', [view.calendar, emptyKey], () => calendarOf(view.calendar, context));
    this.#section('capacity', [view.capacity, view.swimlanes.to], () => capacityOf(view));
    this.#section('past', [view.past, emptyKey], () => pastOf(view.past, context));
    this.#swimlanes.draw(view.swimlanes, view.now);
    for (const region of document.querySelectorAll<HTMLElement>('main .scroll')) focusableIfWide(region);
    this.#showQuery();
    this.#tick();
  }

  /** What did not change is not drawn again: the focus and a marked text stay. */
  #section(id: string, data: unknown, draw: () => readonly Child[]): void {
    const key = JSON.stringify(data);
    if (this.#lastDrawn.get(id) === key) return;
    this.#lastDrawn.set(id, key);
    replace(byId(id), ...draw());
  }

  #tick(): void {
    const now = this.#now();
    const clock = byId('clock');
    clock.textContent = `${dayOf(now)} ${clockOf(now)} UTC`;
    clock.setAttribute('datetime', new Date(now).toISOString());
    for (const cell of document.querySelectorAll<HTMLElement>('[data-at]')) {
      const text = countdownOf(Number(cell.dataset.at), now);
      if (cell.textContent !== text) cell.textContent = text;
    }
    const { text, state } = this.#status();
    const status = byId('status-text');
    if (status.textContent !== text) status.textContent = text;
    byId('status').className = state;
    // Not in the status, which a screen reader would read out every second.
    const last = this.#view?.lastRecordAt ?? null;
    byId('last-record').textContent =
      last === null ? '' : `last record ${durationOf(Math.max(0, Math.round((now - last) / 1000)))} ago`;
  }

  #status(): { readonly text: string; readonly state: string } {
    if (!this.#isConnected)
      return { state: 'lost', text: this.#view === null ? 'Connecting' : 'Not connected: is tail running?' };
    if (this.#view === null) return { state: 'reading', text: 'Connecting' };
    return statusOf(this.#view);
  }
}

/** A region that scrolls can be scrolled by keys. */
function focusableIfWide(region: HTMLElement): void {
  const isWide = region.scrollWidth > region.clientWidth;
  if (isWide) {
    region.setAttribute('tabindex', '0');
    region.setAttribute('role', 'group');
    region.setAttribute('aria-label', region.parentElement?.querySelector('h2')?.textContent ?? 'Table');
  } else for (const name of ['tabindex', 'role', 'aria-label']) region.removeAttribute(name);
}

/** Null: there is no such thing. @throws where the server cannot be reached. */
async function fetchJson<T>(path: string, signal: AbortSignal): Promise<T | null> {
  const answer = await fetch(path, { signal });
  return answer.ok ? ((await answer.json()) as T) : null;
}

new FleetPage().start();
