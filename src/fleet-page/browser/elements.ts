export type Child = Node | string | null;
type Attributes = Readonly<Record<string, string | number | boolean | ((event: Event) => void) | null | undefined>>;

/** Text is always text: nothing that a record says becomes markup. */
function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** An HTML element with attributes, listeners (functions) and children. */
export const html = (name: string, attributes: Attributes = {}, ...children: Child[]): HTMLElement =>
  fill(document.createElement(name), attributes, children);

export const svg = (name: string, attributes: Attributes = {}, ...children: Child[]): SVGElement =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

/** @throws if the page has no such element. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found as E;
}

/** Replaces what is in an element; the focus stays on the element with the same `data-key`. */
export function replace(parent: Element, ...children: Child[]): void {
  const active = document.activeElement;
  const key = active !== null && parent.contains(active) ? active.getAttribute('data-key') : null;
  const scroll = parent.scrollLeft;
  parent.replaceChildren(...children.filter((child) => child !== null));
  parent.scrollLeft = scroll;
  if (key === null) return;
  const again = [...parent.querySelectorAll<HTMLElement>('[data-key]')].find(({ dataset }) => dataset.key === key);
  again?.focus({ preventScroll: true });
}

export interface Column<Row> {
  readonly label: string;
  readonly cell: (row: Row) => Child;
  readonly isNumber?: boolean;
}

export function table<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  rowClass: (row: Row) => string = () => '',
): HTMLElement {
  const head = html(
    'tr',
    {},
    ...columns.map(({ label, isNumber }) => html('th', { scope: 'col', class: isNumber ? 'number' : null }, label)),
  );
  const body = rows.map((row) =>
    html(
      'tr',
      { class: rowClass(row) || null },
      ...columns.map(({ cell, isNumber }) => html('td', { class: isNumber ? 'number' : null }, cell(row))),
    ),
  );
  return html(
    'table',
    {},
    html('caption', { class: 'hidden' }, caption),
    html('thead', {}, head),
    html('tbody', {}, ...body),
  );
}
